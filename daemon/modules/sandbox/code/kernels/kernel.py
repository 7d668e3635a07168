"""Keeps the variables of a Python context and runs code in it.

Descriptor 7 brings one JSON object a line; 8 and 9 are the outputs of the context, moved out of the way of
the code, which writes to 1 and 2. What is said to the daemon stands between the output, behind a mark that
holds the token of the run. Only the standard library is used.
"""
import ast
import asyncio
import base64
import builtins
import io
import json
import linecache
import os
import queue
import signal
import sys
import threading
import traceback
import types

ORDERS, OUT, ERR = 7, 8, 9
# One write of at most PIPE_BUF bytes is never mixed with those of others (pipe(7)).
PIECE = 3900
MAX_DATA = 8 * 1024 * 1024
MAX_TEXT = 1024 * 1024
MAX_SOURCES = 8 * 1024 * 1024
FLUSH_SECONDS = 0.1

for descriptor in (ORDERS, OUT, ERR):
    os.set_inheritable(descriptor, False)

KERNEL = os.getpid()


class State:
    token = ""
    running = False
    cells = []
    cell_bytes = 0
    loop = None


def write_all(descriptor, data):
    while data:
        try:
            data = data[os.write(descriptor, data):]
        except BlockingIOError:
            import select
            select.select([], [descriptor], [])


def say(message, descriptor=OUT):
    text = json.dumps(message).encode()
    mark = b"\x1e" + State.token.encode()
    for at in range(0, len(text), PIECE):
        last = b"." if at + PIECE >= len(text) else b"+"
        write_all(descriptor, mark + last + text[at:at + PIECE] + b"\n")


def open_outputs():
    os.dup2(OUT, 1)
    os.dup2(ERR, 2)
    sys.stdout = io.TextIOWrapper(open(1, "wb", closefd=False), encoding="utf-8", errors="backslashreplace", line_buffering=True)
    sys.stderr = io.TextIOWrapper(open(2, "wb", 0, closefd=False), encoding="utf-8", errors="backslashreplace", write_through=True)
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr


try:
    import ctypes
    LIBC = ctypes.CDLL(None)
except Exception:
    LIBC = None


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    if LIBC:
        LIBC.fflush(None)


def restore_outputs(before):
    """The code may have closed or replaced its outputs; the next one has them again."""
    if any(not same_file(*pair) for pair in ((1, OUT), (2, ERR))):
        os.dup2(OUT, 1)
        os.dup2(ERR, 2)
    if sys.stdout is not before[0] or before[0].closed or before[1].closed:
        open_outputs()


def same_file(one, other):
    try:
        return os.path.samestat(os.fstat(one), os.fstat(other))
    except OSError:
        return False


def keep_flushing():
    """Shows what was printed without a line end while code runs."""
    while True:
        busy.wait()
        threading.Event().wait(FLUSH_SECONDS)
        try:
            sys.stdout.flush()
        except Exception:
            pass


busy = threading.Event()
orders = queue.SimpleQueue()


def read_orders():
    with open(ORDERS, "rb", closefd=False) as stream:
        for line in stream:
            order = json.loads(line)
            if order["op"] == "interrupt":
                if State.running:
                    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            else:
                orders.put(order)
    orders.put(None)
    # Nobody is there any more to hear what still runs.
    threading.Event().wait(0.2)
    os._exit(0)


def on_interrupt(_signal, _frame):
    if State.running and os.getpid() == KERNEL:
        raise KeyboardInterrupt


# What values look like.

def cut(text):
    if len(text) <= MAX_TEXT:
        return text
    return text[:MAX_TEXT] + "\n[svc shows the first %d of %d characters]" % (MAX_TEXT, len(text))


def as_text(data):
    if isinstance(data, (bytes, bytearray)):
        return base64.b64encode(data).decode()
    return data


REPRS = (
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("text/latex", "_repr_latex_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("application/json", "_repr_json_"),
)


def bundle_of(value):
    data = {}
    own = getattr(type(value), "_repr_mimebundle_", None)
    if own is not None:
        data.update(without_metadata(value._repr_mimebundle_()) or {})
    for mime, name in REPRS:
        if mime in data or getattr(type(value), name, None) is None:
            continue
        try:
            shown = without_metadata(getattr(value, name)())
        except NotImplementedError:
            shown = None
        if shown is not None:
            data[mime] = as_text(shown)
    if is_figure(value):
        data["image/png"] = png_of(value)
        close_figure(value)
    data.setdefault("text/plain", cut(repr(value)))
    return limited(data)


def without_metadata(shown):
    return shown[0] if isinstance(shown, tuple) else shown


def limited(data):
    kept, left_out = {}, []
    for mime, shown in data.items():
        size = len(shown) if isinstance(shown, str) else len(json.dumps(shown))
        if size > MAX_DATA:
            left_out.append("[svc left out %s of %d bytes; it takes %d]" % (mime, size, MAX_DATA))
        else:
            kept[mime] = shown
    if left_out:
        kept["text/plain"] = "\n".join([cut(str(kept.get("text/plain", "")))] + left_out)
    return kept


def show(value):
    data = bundle_of(value)
    sys.stdout.flush()
    say({"type": "result", "data": data})


def display(*values, raw=False, **_options):
    """Shows values in the richest forms that they have."""
    for value in values:
        if raw and isinstance(value, dict):
            sys.stdout.flush()
            say({"type": "result", "data": limited({mime: as_text(shown) for mime, shown in value.items()})})
        else:
            show(value)


def no_input(_prompt="", /):
    raise EOFError("input() has nobody to ask here: code in a context has no stdin. Pass the value in the code.")


# Figures are shown without being asked for.

os.environ.setdefault("MPLBACKEND", "Agg")


def is_figure(value):
    figures = sys.modules.get("matplotlib.figure")
    return figures is not None and isinstance(value, figures.Figure)


def png_of(figure):
    image = io.BytesIO()
    figure.savefig(image, format="png", bbox_inches="tight")
    return base64.b64encode(image.getvalue()).decode()


def close_figure(figure):
    plots = sys.modules.get("matplotlib.pyplot")
    if plots is not None:
        plots.close(figure)


def show_figures(*_words, **_options):
    plots = sys.modules.get("matplotlib.pyplot")
    for number in plots.get_fignums() if plots else ():
        figure = plots.figure(number)
        say({"type": "result", "data": limited({"image/png": png_of(figure), "text/plain": repr(figure)})})
        plots.close(figure)


class FigureFinder:
    """Lets plt.show() show figures here, where no window can open."""

    def find_spec(self, name, path, target=None):
        if name != "matplotlib.pyplot":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec
        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            module.show = show_figures

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, FigureFinder())


# Running code.

main = types.ModuleType("__main__")
main.__dict__.update(display=display, __builtins__=builtins)
sys.modules["__main__"] = main
builtins.input = no_input
builtins.display = display
sys.argv = [""]
sys.path.insert(0, "")


def remember(name, code):
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    State.cells.append((name, len(code)))
    State.cell_bytes += len(code)
    while State.cell_bytes > MAX_SOURCES and len(State.cells) > 1:
        old, size = State.cells.pop(0)
        State.cell_bytes -= size
        linecache.cache.pop(old, None)


def run_part(tree, name, mode):
    compiled = compile(tree, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    value = eval(compiled, main.__dict__)
    if compiled.co_flags & 0x80:  # CO_COROUTINE
        if State.loop is None or State.loop.is_closed():
            State.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(State.loop)
        value = run_coroutine(State.loop, value)
    return value


def run_coroutine(loop, coroutine):
    task = loop.create_task(coroutine)
    try:
        return loop.run_until_complete(task)
    except KeyboardInterrupt:
        task.cancel()
        try:
            loop.run_until_complete(task)
        except BaseException:
            pass
        raise


def run_cell(code, name):
    tree = compile(code, name, "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    if tree.body:
        run_part(tree, name, "exec")
    if last is None:
        return
    value = run_part(ast.Expression(last.value), name, "eval")
    if value is not None and not code.rstrip().endswith(";"):
        main.__dict__["_"] = value
        show(value)


def error_of(error):
    shown = traceback.TracebackException.from_exception(error)
    leave_kernel_out(shown)
    try:
        value = str(error)
    except Exception:
        value = ""
    lines = "".join(shown.format())[-MAX_TEXT:].splitlines()
    return {"ename": type(error).__name__, "evalue": cut(value), "traceback": lines}


def leave_kernel_out(shown, depth=0):
    """Takes the frames of this file out of a traceback and of those that led to it."""
    if shown is None or depth > 20:
        return
    kept = [frame for frame in shown.stack if frame.filename != __file__]
    shown.stack[:] = kept
    for cause in (shown.__cause__, shown.__context__, *(getattr(shown, "exceptions", None) or ())):
        leave_kernel_out(cause, depth + 1)


def run(order):
    State.token = order["token"]
    name = "<cell %d>" % order["count"]
    remember(name, order["code"])
    before = (sys.stdout, sys.stderr)
    error = None
    leaving = None
    busy.set()
    try:
        try:
            State.running = True
            run_cell(order["code"], name)
            show_figures()
        finally:
            State.running = False
    except SystemExit as exit:
        leaving = exit
    except BaseException as failure:
        error = error_of(failure)
    busy.clear()
    if os.getpid() != KERNEL:
        # A child that the code forked came back here.
        flush()
        os._exit(0 if error is None else 1)
    flush()
    if leaving is not None:
        leave(leaving)
    restore_outputs(before)
    say({"type": "end", "error": error})
    say({"type": "end"}, ERR)


def leave(leaving):
    code = leaving.code
    if code is None or isinstance(code, int):
        number = (code or 0) & 255
    else:
        print(code, file=sys.stderr)
        number = 1
    flush()
    say({"type": "leave", "code": number})
    os._exit(number)


def serve():
    signal.signal(signal.SIGINT, on_interrupt)
    open_outputs()
    for task in (read_orders, keep_flushing):
        threading.Thread(target=task, daemon=True).start()
    while True:
        try:
            order = orders.get()
            if order is None:
                os._exit(0)
            if order["op"] == "hello":
                State.token = order["token"]
                say({"type": "ready"})
            elif order["op"] == "run":
                run(order)
        except KeyboardInterrupt:
            # It came a moment too late for the code that it was meant for.
            State.running = False


serve()
