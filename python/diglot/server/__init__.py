"""A server for memories over HTTP. Needs the packages of `diglot[server]`.

`diglot serve STORE` starts one, and `docs/server.md` describes its API. `app` has it as an ASGI
application, `run` runs it.
"""
