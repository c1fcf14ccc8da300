"""The tools in the libraries that they are for."""

import asyncio
import json
import subprocess
import sys

import pytest

from diglot import InMemoryTranslationMemoryStore, TranslationMemoryEntry, lookup_memory
from diglot.adapters.source import answer, strict_parameters
from diglot.dual import DualLanguageMemory, MemoryRecord, lookup_dual_memory

LIBRARIES = {
    "openai": "openai",
    "anthropic": "anthropic",
    "pydantic_ai": "pydantic_ai",
    "openai_agents": "agents",
    "langchain": "langchain_core",
    "langgraph": "langgraph",
}


@pytest.fixture
def source():
    entry = TranslationMemoryEntry("Save changes", "변경 사항 저장", "en", "ko")
    return lookup_memory(InMemoryTranslationMemoryStore([entry]))


@pytest.fixture
def dual():
    return lookup_dual_memory(DualLanguageMemory([MemoryRecord("按下保存按钮", id="m-1")]))


GOOD = {"query": "Save changes", "max_hits": 1}
BAD = {"query": "Save changes", "max_hits": 99}
FOUND = "# Translation memory matches: Save changes\n\n## 1. Score: 1.00\nSource: Save changes\n"
REFUSED = "max_hits is 99; it must be from 1 to 50"


# What all have in common.


@pytest.mark.parametrize(
    ("arguments", "failed", "text"),
    [
        (json.dumps(GOOD), False, FOUND),
        (GOOD, False, FOUND),
        # Strict modes make models say null of all that they have nothing to say of.
        ({**GOOD, "namespace": None, "min_score": None}, False, FOUND),
        (json.dumps(BAD), True, REFUSED),
        ({}, True, "query is missing"),
        ("", True, "query is missing"),
        ("{", True, "the arguments are not JSON: Expecting property name"),
        ("[1]", True, "params must be a mapping, not list"),
        ("null", True, "query is missing"),
        ("[" * 100_000, True, "the arguments are nested too deeply"),
        ({"query": "\ud800"}, True, "query has a lone surrogate"),
        ({"x" * 9999: 1}, True, "'xxxx"),
    ],
)
def test_the_model_is_answered(source, arguments, failed, text):
    result = asyncio.run(answer(source, arguments))
    assert result.failed == failed
    assert result.text.startswith(text)
    assert len(result.text) <= 4000


def test_what_goes_wrong_in_the_store_is_raised():
    class Broken:
        async def search(self, query, **options):
            raise ConnectionError("no route")

    with pytest.raises(ConnectionError):
        asyncio.run(answer(lookup_memory(Broken()), GOOD))


@pytest.mark.parametrize("kind", ["source", "dual"])
def test_strict_parameters_keep_the_rules_of_strict_mode(kind, request):
    source = request.getfixturevalue(kind)
    schema = strict_parameters(source)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(schema["properties"])
    for name, one in schema["properties"].items():
        assert set(one) <= {"type", "description", "enum"}
        assert ("null" in one["type"]) == (name != "query")
        assert ("enum" in one) == (name == "translation_status")
    assert source.parameters["required"] == ["query"]
    if kind == "dual":
        status = schema["properties"]["translation_status"]
        assert status["enum"] == ["missing", "draft", "verified", None]


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_library_is_imported_before_it_is_needed():
    code = (
        "import sys, diglot, diglot.dual, diglot.adapters, diglot.adapters.openai\n"
        "import diglot.adapters.anthropic\n"
        f"print(*set({list(LIBRARIES.values())!r} + ['mcp', 'pydantic']) & set(sys.modules))"
    )
    assert run(code).strip() == ""


@pytest.mark.parametrize("module", ["pydantic_ai", "openai_agents", "langchain", "langgraph"])
def test_a_library_that_is_missing_is_named_with_its_extra(module):
    library, extra = LIBRARIES[module], module.replace("_", "-")
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from diglot import MissingPackageError\n"
        f"try: import diglot.adapters.{module}\n"
        "except MissingPackageError as error: print(error.code, error.name, error, sep='|')"
    )
    code, name, message = run(code).strip().split("|")
    assert (code, name.partition(".")[0]) == ("missing_package", library)
    assert f"pip install 'diglot[{extra}]'" in message


# OpenAI.


@pytest.mark.parametrize("strict", [True, False])
def test_openai_tools_are_as_the_api_wants_them(source, strict):
    pytest.importorskip("openai", reason="diglot[openai] is not installed")
    from openai.types.chat import ChatCompletionFunctionToolParam
    from openai.types.responses import FunctionToolParam
    from pydantic import TypeAdapter

    from diglot.adapters.openai import chat_tool, responses_tool

    parameters = strict_parameters(source) if strict else source.parameters
    tool = responses_tool(source, strict=strict)
    assert tool == {
        "type": "function",
        "name": "lookup-memory",
        "description": source.description,
        "parameters": parameters,
        "strict": strict,
    }
    assert TypeAdapter(FunctionToolParam).validate_python(tool) == tool
    chat = chat_tool(source, strict=strict)
    assert chat == {
        "type": "function",
        "function": {name: value for name, value in tool.items() if name != "type"},
    }
    assert TypeAdapter(ChatCompletionFunctionToolParam).validate_python(chat) == chat


@pytest.mark.parametrize(("arguments", "text"), [(GOOD, FOUND), (BAD, REFUSED)])
def test_openai_calls_are_answered(source, arguments, text):
    pytest.importorskip("openai", reason="diglot[openai] is not installed")
    from openai.types.chat import ChatCompletionMessageFunctionToolCall
    from openai.types.responses import ResponseFunctionToolCall

    from diglot.adapters.openai import chat_message, responses_output

    said = json.dumps(arguments)
    call = ResponseFunctionToolCall(
        type="function_call", call_id="c-1", name="lookup-memory", arguments=said
    )
    output = asyncio.run(responses_output(source, call))
    assert output.pop("output").startswith(text)
    assert output == {"type": "function_call_output", "call_id": "c-1"}
    call = ChatCompletionMessageFunctionToolCall.model_validate(
        {"id": "c-1", "type": "function", "function": {"name": "lookup-memory", "arguments": said}}
    )
    message = asyncio.run(chat_message(source, call))
    assert message.pop("content").startswith(text)
    assert message == {"role": "tool", "tool_call_id": "c-1"}


# Anthropic.


def test_anthropic_tools_are_as_the_api_wants_them(source):
    pytest.importorskip("anthropic", reason="diglot[anthropic] is not installed")
    from anthropic.types import ToolParam
    from pydantic import TypeAdapter

    from diglot.adapters.anthropic import lookup_tool

    tool = lookup_tool(source)
    assert tool == {
        "name": "lookup-memory",
        "description": source.description,
        "input_schema": source.parameters,
    }
    assert lookup_tool(source, strict=True) == {**tool, "strict": True}
    assert TypeAdapter(ToolParam).validate_python(tool) == tool


@pytest.mark.parametrize(("arguments", "text"), [(GOOD, FOUND), (BAD, REFUSED)])
def test_anthropic_calls_are_answered(source, arguments, text):
    pytest.importorskip("anthropic", reason="diglot[anthropic] is not installed")
    from anthropic.types import ToolUseBlock

    from diglot.adapters.anthropic import tool_result

    call = ToolUseBlock.model_validate(
        {"type": "tool_use", "id": "t-1", "name": "lookup-memory", "input": arguments}
    )
    result = asyncio.run(tool_result(source, call))
    assert result.pop("content").startswith(text)
    assert result == {"type": "tool_result", "tool_use_id": "t-1", "is_error": arguments is BAD}


# Pydantic AI.


def test_pydantic_ai_runs_the_tool_and_asks_again(source):
    pytest.importorskip("pydantic_ai", reason="diglot[pydantic-ai] is not installed")
    from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart, models
    from pydantic_ai.messages import ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    from diglot.adapters.pydantic_ai import lookup_tool

    models.ALLOW_MODEL_REQUESTS = False
    heard = []

    def model(messages, info):
        (tool,) = info.function_tools
        assert tool.name == "lookup-memory"
        assert tool.description == source.description
        assert tool.parameters_json_schema == source.parameters
        heard.append(messages[-1].parts[-1])
        calls = [ToolCallPart("lookup-memory", BAD), ToolCallPart("lookup-memory", GOOD)]
        if len(heard) <= len(calls):
            return ModelResponse(parts=[calls[len(heard) - 1]])
        return ModelResponse(parts=[TextPart("변경 사항 저장")])

    agent = Agent(FunctionModel(model), tools=[lookup_tool(source)])
    result = asyncio.run(agent.run("Translate into Korean: Save changes"))
    assert result.output == "변경 사항 저장"
    refused, found = heard[1:]
    assert refused.content == REFUSED
    assert isinstance(found, ToolReturnPart)
    assert found.content.startswith(FOUND)
    assert found.metadata["hits"][0]["entry"]["target"] == "변경 사항 저장"


def test_pydantic_ai_fills_the_parameters_of_the_schema(dual):
    pytest.importorskip("pydantic_ai", reason="diglot[pydantic-ai] is not installed")
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    from diglot.adapters.pydantic_ai import lookup_tool

    # It calls each tool with what its schema allows.
    agent = Agent(TestModel(), tools=[lookup_tool(dual)])
    result = asyncio.run(agent.run("Recall"))
    assert "No memories found for: a" in result.output


# OpenAI Agents.


def test_openai_agents_run_the_tool(source, dual):
    pytest.importorskip("agents", reason="diglot[openai-agents] is not installed")
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
    from agents.models.chatcmpl_converter import Converter
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    from diglot.adapters.openai_agents import lookup_tool

    class Scripted(Model):
        def __init__(self):
            self.heard = []

        async def get_response(self, *, tools, **others):
            self.heard.append(others["input"])
            self.tools = tools
            calls = [BAD, GOOD]
            turn = len(self.heard) - 1
            if turn < len(calls):
                item = ResponseFunctionToolCall(
                    type="function_call",
                    call_id=f"c-{turn}",
                    name="lookup-memory",
                    arguments=json.dumps(calls[turn]),
                )
            else:
                text = ResponseOutputText(type="output_text", text="변경 사항 저장", annotations=[])
                item = ResponseOutputMessage(
                    id="m-1", type="message", role="assistant", status="completed", content=[text]
                )
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, **others):
            # `Model` demands it; `Runner.run` takes answers whole.
            raise AssertionError("an answer is asked for in pieces")

    model = Scripted()
    tools = [lookup_tool(source), lookup_tool(dual, strict=False)]
    agent = Agent(name="translator", model=model, tools=tools)
    quiet = RunConfig(tracing_disabled=True)
    result = asyncio.run(Runner.run(agent, "Translate: Save changes", run_config=quiet))
    assert result.final_output == "변경 사항 저장"
    outputs = [
        item["output"] for item in model.heard[-1] if item.get("type") == "function_call_output"
    ]
    assert outputs[0] == REFUSED
    assert outputs[1].startswith(FOUND)
    # What goes to the API.
    first, second = (Converter.tool_to_openai(tool)["function"] for tool in model.tools)
    assert first["parameters"] == strict_parameters(source)
    assert first["strict"] is True
    assert second["parameters"] == dual.parameters
    assert second["strict"] is False


@pytest.mark.parametrize("kind", ["source", "dual"])
def test_strict_parameters_are_what_the_agents_sdk_takes_for_strict(kind, request):
    pytest.importorskip("agents", reason="diglot[openai-agents] is not installed")
    from agents.strict_schema import ensure_strict_json_schema

    source = request.getfixturevalue(kind)
    assert ensure_strict_json_schema(strict_parameters(source)) == strict_parameters(source)


# LangChain.


@pytest.fixture
def langchain_tool(source):
    pytest.importorskip("langchain_core", reason="diglot[langchain] is not installed")
    from diglot.adapters.langchain import lookup_tool

    return lookup_tool(source)


def test_langchain_describes_the_tool_to_models(source, langchain_tool):
    from langchain_core.utils.function_calling import convert_to_openai_tool

    described = convert_to_openai_tool(langchain_tool)["function"]
    assert described["name"] == "lookup-memory"
    assert described["description"] == source.description
    assert described["parameters"]["properties"] == source.parameters["properties"]
    assert described["parameters"]["required"] == ["query"]


def test_langchain_runs_the_tool_in_both_ways(langchain_tool):
    def call(arguments):
        return {"type": "tool_call", "id": "c-1", "name": "lookup-memory", "args": arguments}

    async def both(arguments):
        return (
            await langchain_tool.ainvoke(call(arguments)),
            await asyncio.to_thread(langchain_tool.invoke, call(arguments)),
        )

    for found in asyncio.run(both(GOOD)):
        assert found.content.startswith(FOUND)
        assert found.artifact["hits"][0]["entry"]["target"] == "변경 사항 저장"
        assert found.status == "success"
    for refused in asyncio.run(both(BAD)):
        assert (refused.content, refused.status) == (REFUSED, "error")
    assert langchain_tool.invoke(GOOD).startswith(FOUND)


def test_a_graph_of_langgraph_runs_the_tool(langchain_tool):
    pytest.importorskip("langgraph", reason="diglot[langgraph] is not installed")
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    def call(number, arguments):
        return AIMessage(
            "", tool_calls=[{"name": "lookup-memory", "args": arguments, "id": f"c-{number}"}]
        )

    script = [call(0, BAD), call(1, GOOD), AIMessage("변경 사항 저장")]
    model = GenericFakeChatModel(messages=iter(script))

    async def translate(state):
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", translate)
    graph.add_node("tools", ToolNode([langchain_tool]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    question = {"messages": [("user", "Translate: Save changes")]}
    messages = asyncio.run(graph.compile().ainvoke(question))["messages"]
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert (messages[2].content, messages[2].status) == (REFUSED, "error")
    assert messages[4].content.startswith(FOUND)
    assert messages[-1].content == "변경 사항 저장"
