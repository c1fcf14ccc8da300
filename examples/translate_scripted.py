"""A translation loop whose model is a script, so that it runs without a key:

    python examples/translate_scripted.py

Each text is a conversation in which the model may call the tool. What comes out goes into the
memory, so the last text finds what became of the first. translate_openai.py and
translate_anthropic.py do the same with a provider.
"""

import asyncio
import json
import re
from pathlib import Path

from diglot import InMemoryTranslationMemoryStore, TranslationMemoryEntry, lookup_memory
from diglot.adapters import answer

MEMORY = Path(__file__).with_name("memory.jsonl")
SCRIPT = {
    "Save your changes before you quit.": "종료하기 전에 변경 사항을 저장하세요.",
    "Bake for an hour.": "한 시간 동안 구우세요.",
}
TEXTS = [*SCRIPT, "Save your changes before you quit!"]


class ScriptedModel:
    """Asks the tool, and then says what the script says, or what the memory has."""

    async def reply(self, messages, tools):
        text = messages[0]["content"]
        if len(messages) == 1:
            arguments = {"query": text, "target_language": "ko", "max_hits": 1}
            call = {"name": tools[0].name, "arguments": json.dumps(arguments)}
            return {"role": "assistant", "call": call}
        found = re.search("^Target: (.*)$", messages[-1]["content"], re.MULTILINE)
        print(f"{text}\n  in the memory: {found[1] if found else None}")
        return {"role": "assistant", "content": SCRIPT.get(text) or found[1]}


async def translate(model, lookup, text):
    messages = [{"role": "user", "content": text}]
    while True:
        reply = await model.reply(messages, [lookup])
        messages.append(reply)
        if "call" not in reply:
            return reply["content"]
        # What is wrong with the arguments comes back as text, too, for the model to do better.
        found = await answer(lookup, reply["call"]["arguments"])
        messages.append({"role": "tool", "content": found.text})


async def main():
    store = await InMemoryTranslationMemoryStore.from_jsonl(MEMORY)
    # The model need not choose what is the same for all texts.
    lookup = lookup_memory(store, fixed={"source_language": "en"})
    model = ScriptedModel()
    for text in TEXTS:
        translation = await translate(model, lookup, text)
        print(f"  translation: {translation}")
        await store.add(TranslationMemoryEntry(text, translation, "en", "ko"))


if __name__ == "__main__":
    asyncio.run(main())
