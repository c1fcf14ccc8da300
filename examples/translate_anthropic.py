"""Translates English into Korean with a model of Anthropic that looks earlier translations up:

    pip install 'diglot[anthropic]'
    export ANTHROPIC_API_KEY=...
    python examples/translate_anthropic.py "Save your changes before you quit."

ANTHROPIC_MODEL names another model than the one below.
"""

import asyncio
import os
import sys
from pathlib import Path

from anthropic import AsyncAnthropic

from diglot import InMemoryTranslationMemoryStore, TranslationMemoryEntry, lookup_memory
from diglot.adapters.anthropic import lookup_tool, tool_result

MEMORY = Path(__file__).with_name("memory.jsonl")
MODEL = os.environ.get("ANTHROPIC_MODEL", "claude-haiku-4-5")
INSTRUCTIONS = (
    "Translate what the user says into Korean. Look it up first, and keep to the words of earlier "
    "translations. Answer with the translation only."
)
# Calls of the tool that a text may take.
TURNS = 5


async def translate(client, lookup, text):
    messages = [{"role": "user", "content": text}]
    for turn in range(TURNS + 1):
        response = await client.messages.create(
            model=MODEL,
            max_tokens=1024,
            system=INSTRUCTIONS,
            messages=messages,
            tools=[lookup_tool(lookup)],
            tool_choice={"type": "auto" if turn < TURNS else "none"},
        )
        calls = [block for block in response.content if block.type == "tool_use"]
        if not calls:
            break
        messages.append({"role": "assistant", "content": response.content})
        results = [await tool_result(lookup, call) for call in calls]
        messages.append({"role": "user", "content": results})
    return "".join(block.text for block in response.content if block.type == "text")


async def main(texts):
    store = await InMemoryTranslationMemoryStore.from_jsonl(MEMORY)
    lookup = lookup_memory(store, fixed={"source_language": "en", "target_language": "ko"})
    async with AsyncAnthropic() as client:
        for text in texts:
            translation = await translate(client, lookup, text)
            print(translation)
            await store.add(TranslationMemoryEntry(text, translation, "en", "ko"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["Save your changes before you quit."]))
