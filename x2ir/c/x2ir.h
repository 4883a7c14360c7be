/* x2ir.h: the library for C, and for languages that can call C (docs/c.md).
 *
 * It is C99, without C++. Handles are opaque. Functions may be called from any thread, several at a
 * time as long as they share no handle but options. No function throws, ends the process, or writes
 * to standard output or error.
 *
 * Functions that can fail return an x2ir_result, which is never null: its code tells whether the
 * call succeeded, its message what went wrong. The caller owns every handle that it gets and must
 * free it; every _free accepts null.
 *
 * The interface only grows: a program that was compiled with one version of this header runs with
 * every later libx2ir of the same SONAME.
 */
#ifndef X2IR_C_X2IR_H_
#define X2IR_C_X2IR_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define X2IR_C_API __attribute__((visibility("default")))
#else
#define X2IR_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows by one with each function, type or code that is added. */
#define X2IR_API_VERSION 1

/* X2IR_API_VERSION of the library, which is not older than that of the header. */
X2IR_C_API int x2ir_api_version(void);
/* "0.1.0", of the library. */
X2IR_C_API const char* x2ir_version(void);

/* A mapped file that another process cuts short ends the process by a signal (SIGBUS). A program
 * that calls this once, at its start, installs a handler that turns it into an error,
 * X2IR_DATA_LOSS, of the affected call; other faults go to the previous handler. */
X2IR_C_API void x2ir_handle_mapping_faults(void);

/* ---- results ------------------------------------------------------------------------------- */

/* Numbers never change; more may be added. */
enum {
  X2IR_OK = 0,
  X2IR_CANCELLED = 1,           /* the progress function said so */
  X2IR_INVALID_ARGUMENT = 3,    /* a malformed model, or a wrong argument or option */
  X2IR_NOT_FOUND = 5,           /* no such file */
  X2IR_ALREADY_EXISTS = 6,      /* a file of others beside the output would be replaced */
  X2IR_PERMISSION_DENIED = 7,   /* of the system */
  X2IR_OUT_OF_MEMORY = 8,       /* memory, or another thing of which there is not enough */
  X2IR_FAILED_PRECONDITION = 9, /* the target cannot express it */
  X2IR_UNIMPLEMENTED = 12,      /* no mapping for an op, or this form of it */
  X2IR_INTERNAL = 13,           /* a bug of x2ir */
  X2IR_UNAVAILABLE = 14,        /* the system failed: disk full, ... */
  X2IR_DATA_LOSS = 15           /* an unreadable file */
};

typedef struct x2ir_result x2ir_result;

X2IR_C_API int x2ir_result_code(const x2ir_result* result);
/* For people; "" on success. Options are named by their keys. */
X2IR_C_API const char* x2ir_result_message(const x2ir_result* result);
/* The key of the option that the error is about; null: it is about none. */
X2IR_C_API const char* x2ir_result_option(const x2ir_result* result);
/* The report of the conversion, with every op that could not be converted: JSON, as `x2ir convert
 * --report` writes it, without exit_code and error. "{}" if no conversion was started. */
X2IR_C_API const char* x2ir_result_report(const x2ir_result* result);
X2IR_C_API void x2ir_result_free(x2ir_result* result);

/* ---- options ------------------------------------------------------------------------------- */

typedef struct x2ir_options x2ir_options;

/* Null when there is no memory. */
X2IR_C_API x2ir_options* x2ir_options_new(void);
X2IR_C_API void x2ir_options_free(x2ir_options* options);

/* The keys are the long flags of `x2ir convert --help` without their dashes, the values are the
 * arguments of the flags: ("opset", "17"), ("shape", "x:1,3,224,224"), ("external-data", "always").
 * Those without a value are "true" or "false": ("optimize", "false"). "from" and "to" name formats.
 * A key that the command line takes several times may be set several times. Inputs to measure with
 * ("int8", "calibrate") are files, and the notes of the report list the measured results. Values
 * are parsed when a model is read: a wrong value is an error of that call. */
X2IR_C_API x2ir_result* x2ir_options_set(x2ir_options* options, const char* key, const char* value);

/* Called often while a model is converted, on the thread of the call: `done` of `total` nodes.
 * A return value other than 0 ends the call with X2IR_CANCELLED, and nothing is written. */
typedef int (*x2ir_progress_fn)(void* user, int64_t done, int64_t total);
X2IR_C_API void x2ir_options_on_progress(x2ir_options* options, x2ir_progress_fn fn, void* user);

enum { X2IR_LOG_NOTE = 0, X2IR_LOG_WARNING = 1, X2IR_LOG_ERROR = 2 };
/* Called before a call returns, on its thread, for each note, warning and error of its report. */
typedef void (*x2ir_log_fn)(void* user, int level, const char* message);
X2IR_C_API void x2ir_options_on_log(x2ir_options* options, x2ir_log_fn fn, void* user);

/* ---- where models come from and go to ------------------------------------------------------ */

typedef struct x2ir_source x2ir_source;

/* A file or folder. Null when there is no memory. */
X2IR_C_API x2ir_source* x2ir_source_file(const char* path);
/* Bytes, which are not copied: they stay as they are until `release` is called with `user`, once,
 * maybe long after the source was freed, and from any thread (also when there is no memory for the
 * source). A null `release`: the bytes outlive the source and all models read from it. `name`
 * ("net.onnx") appears in messages, and its extension gives the format if the bytes do not. A null
 * `data` means no bytes, whatever `size` is. */
typedef void (*x2ir_release_fn)(void* user);
X2IR_C_API x2ir_source* x2ir_source_bytes(const void* data, size_t size, const char* name,
                                          x2ir_release_fn release, void* user);

/* Bytes that a function provides, with the rules of x2ir_source_bytes. */
typedef struct x2ir_bytes {
  const void* data;
  size_t size;
  x2ir_release_fn release;
  void* user;
} x2ir_bytes;
/* A file that the model names, most often its weights; `name` is from the model and is untrusted:
 * it may be anything. Sets `bytes` and returns 0; any other return value means that there is no
 * such file. Only for a source of bytes: files beside a model file are found by x2ir's own rules.
 */
typedef int (*x2ir_resolve_fn)(void* user, const char* name, x2ir_bytes* bytes);
X2IR_C_API void x2ir_source_on_file(x2ir_source* source, x2ir_resolve_fn fn, void* user);
X2IR_C_API void x2ir_source_free(x2ir_source* source);

typedef struct x2ir_sink x2ir_sink;

/* A file, and the files beside it; either complete or not written. Null when there is no memory. */
X2IR_C_API x2ir_sink* x2ir_sink_file(const char* path);
/* Takes the next bytes of the file `file`: `name`, or one that belongs beside it. Those of one file
 * come in order. Returns 0; any other value ends the call with X2IR_UNAVAILABLE, and the bytes so
 * far are invalid. */
typedef int (*x2ir_write_fn)(void* user, const char* file, const void* data, size_t size);
X2IR_C_API x2ir_sink* x2ir_sink_function(const char* name, x2ir_write_fn fn, void* user);
/* Memory: files that are kept in the sink until it is freed or written to again. */
X2IR_C_API x2ir_sink* x2ir_sink_memory(const char* name);
X2IR_C_API size_t x2ir_sink_count(const x2ir_sink* sink);
/* The name of a file of x2ir_sink_memory, and its bytes; null if there is no such file. */
X2IR_C_API const char* x2ir_sink_name(const x2ir_sink* sink, size_t index);
X2IR_C_API const void* x2ir_sink_data(const x2ir_sink* sink, size_t index, size_t* size);
X2IR_C_API void x2ir_sink_free(x2ir_sink* sink);

/* ---- work ---------------------------------------------------------------------------------- */

/* Reads a model, converts it and writes it: what `x2ir convert` does. `options` may be null. */
X2IR_C_API x2ir_result* x2ir_convert(const x2ir_source* source, x2ir_sink* sink,
                                     const x2ir_options* options);

/* A model in x2ir's own representation. */
typedef struct x2ir_model x2ir_model;

/* The first half of x2ir_convert, with the options of reading. *model is null after an error. */
X2IR_C_API x2ir_result* x2ir_load(const x2ir_source* source, const x2ir_options* options,
                                  x2ir_model** model);
/* The second half, with the options of writing; the model does not change. */
X2IR_C_API x2ir_result* x2ir_save(const x2ir_model* model, x2ir_sink* sink,
                                  const x2ir_options* options);
/* The graph as `x2ir show` prints it, to `fn` in one piece or in several; `file` is "". */
X2IR_C_API x2ir_result* x2ir_model_text(const x2ir_model* model, x2ir_write_fn fn, void* user);
X2IR_C_API void x2ir_model_free(x2ir_model* model);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* X2IR_C_X2IR_H_ */
