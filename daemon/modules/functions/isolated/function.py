"""Runs one function for the daemon. Descriptor 7 brings one JSON object a line, 8 takes the answers the same way;
what the function prints goes to stderr, where a mark that the daemon has chosen ends what belongs to one call.
Only the standard library is used.
"""
import asyncio
import inspect
import json
import os
import sys
import traceback
import types

ORDERS, ANSWERS = 7, 8
MOST_WORDS = 4000
FILE = os.path.abspath("function.py")

for descriptor in (ORDERS, ANSWERS):
    os.set_inheritable(descriptor, False)


def write_all(descriptor, data):
    while data:
        data = data[os.write(descriptor, data):]


def words(error):
    frames = traceback.extract_tb(error.__traceback__)
    own = [at for at, frame in enumerate(frames) if frame.filename == FILE]
    frames = frames[own[0]:] if own else []
    lines = traceback.format_list(frames) + traceback.format_exception_only(type(error), error)
    return "".join(lines).strip()[-MOST_WORDS:]


def load(order):
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(order["code"])
    module = types.ModuleType("function")
    module.__file__ = FILE
    sys.modules["function"] = module
    exec(compile(order["code"], FILE, "exec"), module.__dict__)
    handler = getattr(module, "handler", None)
    if not callable(handler):
        raise TypeError("the code has no function called handler")
    return handler


def call(handler, order):
    value = handler(order["args"])
    if inspect.isawaitable(value):
        async def wait():
            return await value
        value = asyncio.run(wait())
    text = json.dumps(value, allow_nan=False)
    if len(text.encode()) > order["most"]:
        raise ValueError("the result is more than %d bytes" % order["most"])
    return text


def main():
    handler = None
    for line in os.fdopen(ORDERS, "r", encoding="utf-8"):
        order = json.loads(line)
        try:
            if order["op"] == "load":
                handler = load(order)
                answer = '{"result":null}'
            else:
                answer = '{"result":%s}' % call(handler, order)
        except Exception as error:
            answer = json.dumps({"error": words(error)})
        sys.stdout.flush()
        sys.stderr.flush()
        write_all(2, order["mark"].encode())
        write_all(ANSWERS, answer.encode() + b"\n")


main()
