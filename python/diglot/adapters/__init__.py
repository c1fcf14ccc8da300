"""`lookup_memory` and `lookup_dual_memory` as tools of model providers and agent frameworks.

Name, description and parameters of a tool come from the context source, so they are the same
everywhere. Each module is for one library, which the extra of the same name brings, and nothing of
it is imported before its module is.

| module | extra | what it has |
| --- | --- | --- |
| `diglot.adapters.openai` | `openai` | tools of the Responses and the Chat Completions API |
| `diglot.adapters.anthropic` | `anthropic` | tools of the Messages API |
| `diglot.adapters.pydantic_ai` | `pydantic-ai` | `Tool` |
| `diglot.adapters.openai_agents` | `openai-agents` | `FunctionTool` |
| `diglot.adapters.langchain` | `langchain` | `StructuredTool` |
| `diglot.adapters.langgraph` | `langgraph` | `BaseStore` over a dual-language memory |

What is wrong with a model's arguments goes back to the model, so that it can call again. What goes
wrong in a store is raised.
"""

from diglot.adapters.source import Answer, ContextSource, answer

__all__ = ["Answer", "ContextSource", "answer"]
