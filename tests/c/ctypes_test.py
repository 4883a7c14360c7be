"""x2ir.h from Python's ctypes: two copies of the library in one process, in several threads.

    ctypes_test.py LIBRARY MODEL
"""
import ctypes as c
import json
import os
import shutil
import sys
import tempfile
import threading

PROGRESS = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_int64, c.c_int64)


class X2ir:
    def __init__(self, path):
        # In one scope with all others: what one showed would be taken for another's.
        self.lib = c.CDLL(path, mode=c.RTLD_GLOBAL)
        for name, result, *arguments in [
            ("version", c.c_char_p),
            ("options_new", c.c_void_p),
            ("options_free", None, c.c_void_p),
            ("options_set", c.c_void_p, c.c_void_p, c.c_char_p, c.c_char_p),
            ("options_on_progress", None, c.c_void_p, PROGRESS, c.c_void_p),
            ("source_file", c.c_void_p, c.c_char_p),
            ("source_bytes", c.c_void_p, c.c_char_p, c.c_size_t, c.c_char_p, c.c_void_p, c.c_void_p),
            ("source_free", None, c.c_void_p),
            ("sink_memory", c.c_void_p, c.c_char_p),
            ("sink_data", c.c_void_p, c.c_void_p, c.c_size_t, c.POINTER(c.c_size_t)),
            ("sink_free", None, c.c_void_p),
            ("convert", c.c_void_p, c.c_void_p, c.c_void_p, c.c_void_p),
            ("result_code", c.c_int, c.c_void_p),
            ("result_message", c.c_char_p, c.c_void_p),
            ("result_report", c.c_char_p, c.c_void_p),
            ("result_free", None, c.c_void_p),
        ]:
            function = getattr(self.lib, "x2ir_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def result(self, handle):
        answer = (self.result_code(handle), self.result_message(handle).decode(),
                  json.loads(self.result_report(handle)))
        self.result_free(handle)
        return answer

    def convert_bytes(self, data, progress=None, **options):
        """(code, message, report), bytes."""
        source = self.source_bytes(data, len(data), b"net.onnx", None, None)
        sink, given = self.sink_memory(b"net.onnx"), self.options_new()
        for key, value in options.items():
            code, message, _ = self.result(self.options_set(given, key.encode(), value.encode()))
            assert code == 0, message
        callback = PROGRESS(progress or (lambda user, done, total: 0))
        self.options_on_progress(given, callback, None)
        answer = self.result(self.convert(source, sink, given))
        size = c.c_size_t()
        data = self.sink_data(sink, 0, c.byref(size))
        written = c.string_at(data, size.value) if data else b""
        for free, handle in ((self.source_free, source), (self.sink_free, sink),
                             (self.options_free, given)):
            free(handle)
        return answer, written


def main(library, model):
    with open(model, "rb") as file:
        data = file.read()
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "libx2ir_copy.so")
        shutil.copy(library, copy)
        libraries = [X2ir(library), X2ir(copy)]
        address = [c.cast(x.lib.x2ir_convert, c.c_void_p).value for x in libraries]
        assert address[0] != address[1], "the loader took both for one"

        (code, message, report), expected = libraries[0].convert_bytes(data, opset="13")
        assert code == 0, message
        assert report["nodes_read"] > 0 and len(expected) > 1000

        (code, message, _), written = libraries[1].convert_bytes(data, opset="x")
        assert (code, written) == (3, b"") and "option 'opset'" in message, message
        (code, message, _), written = libraries[1].convert_bytes(data[:1000])
        assert code != 0 and message and not written
        # A callback that raises says nothing to C, so it cancels by its result.
        (code, _, _), written = libraries[0].convert_bytes(data, lambda user, done, total: 1)
        assert (code, written) == (1, b"")

        got = []

        def work(x):
            for _ in range(3):
                got.append(x.convert_bytes(data, opset="13"))

        threads = [threading.Thread(target=work, args=(x,)) for x in libraries * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(got) == 12
        for (code, message, _), written in got:
            assert code == 0 and written == expected, message
    print("x2ir", libraries[0].version().decode(), "twice in one process: all as expected")


main(*sys.argv[1:])
