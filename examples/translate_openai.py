"""Translates English into Korean with a model of OpenAI that looks earlier translations up:

    pip install 'diglot[openai]'
    export OPENAI_API_KEY=...
    python examples/translate_openai.py "Save your changes before you quit."

OPENAI_MODEL names another model than the one below.
"""

import asyncio
import os
import sys
from pathlib import Path

from openai import AsyncOpenAI

from diglot import InMemoryTranslationMemoryStore, TranslationMemoryEntry, lookup_memory
from diglot.adapters.openai import responses_output, responses_tool

MEMORY = Path(__file__).with_name("memory.jsonl")
MODEL = os.environ.get("OPENAI_MODEL", "gpt-5.4-mini")
INSTRUCTIONS = (
    "Translate what the user says into Korean. Look it up first, and keep to the words of earlier "
    "translations. Answer with the translation only."
)
# Calls of the tool that a text may take.
TURNS = 5


async def translate(client, lookup, text):
    said = [{"role": "user", "content": text}]
    for turn in range(TURNS + 1):
        response = await client.responses.create(
            model=MODEL,
            instructions=INSTRUCTIONS,
            input=said,
            tools=[responses_tool(lookup)],
            tool_choice="auto" if turn < TURNS else "none",
        )
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            break
        said += response.output
        for call in calls:
            said.append(await responses_output(lookup, call))
    return response.output_text


async def main(texts):
    store = await InMemoryTranslationMemoryStore.from_jsonl(MEMORY)
    lookup = lookup_memory(store, fixed={"source_language": "en", "target_language": "ko"})
    async with AsyncOpenAI() as client:
        for text in texts:
            translation = await translate(client, lookup, text)
            print(translation)
            await store.add(TranslationMemoryEntry(text, translation, "en", "ko"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["Save your changes before you quit."]))
