/* x2ir.h from C99. Every line that fails is printed; the exit code says whether any did. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x2ir.h>

static int failures = 0;

static void check(int ok, const char* what, int line) {
  if (ok) return;
  fprintf(stderr, "api_test.c:%d: %s\n", line, what);
  ++failures;
}
#define CHECK(what) check((what) ? 1 : 0, #what, __LINE__)

/* Expects the code and, unless null, a word of the message; frees the result. */
static void expect(x2ir_result* result, int code, const char* word, int line) {
  if (x2ir_result_code(result) != code ||
      (word && !strstr(x2ir_result_message(result), word))) {
    fprintf(stderr, "api_test.c:%d: code %d, expected %d: %s\n", line, x2ir_result_code(result),
            code, x2ir_result_message(result));
    ++failures;
  }
  x2ir_result_free(result);
}
#define EXPECT(result, code, word) expect(result, code, word, __LINE__)

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  char* data = NULL;
  long length;
  *size = 0;
  if (!file) return NULL;
  if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) > 0) {
    rewind(file);
    data = malloc((size_t)length);
    if (data) *size = fread(data, 1, (size_t)length, file);
  }
  fclose(file);
  return data;
}

static int released = 0;
static void release(void* user) {
  free(user);
  ++released;
}

struct calls {
  int64_t progress, last, total, notes, warnings, errors, files;
  int64_t cancel_at;
};
static int on_progress(void* user, int64_t done, int64_t total) {
  struct calls* calls = user;
  ++calls->progress;
  calls->last = done;
  calls->total = total;
  return calls->cancel_at != 0 && calls->progress >= calls->cancel_at;
}
static void on_log(void* user, int level, const char* message) {
  struct calls* calls = user;
  CHECK(message && *message);
  if (level == X2IR_LOG_NOTE) ++calls->notes;
  if (level == X2IR_LOG_WARNING) ++calls->warnings;
  if (level == X2IR_LOG_ERROR) ++calls->errors;
}

/* A sink of our own that fails after so many bytes. */
struct taken {
  size_t bytes, most;
};
static int take(void* user, const char* file, const void* data, size_t size) {
  struct taken* taken = user;
  CHECK(file && (data || size == 0));
  taken->bytes += size;
  return taken->bytes > taken->most;
}

/* Weights that lie in a sink of memory. */
struct folder {
  const x2ir_sink* sink;
  int asked;
};
static int resolve(void* user, const char* name, x2ir_bytes* bytes) {
  struct folder* folder = user;
  size_t i;
  ++folder->asked;
  for (i = 0; i < x2ir_sink_count(folder->sink); ++i) {
    if (strcmp(x2ir_sink_name(folder->sink, i), name) != 0) continue;
    bytes->data = x2ir_sink_data(folder->sink, i, &bytes->size);
    return 0;
  }
  return 1;
}

static x2ir_options* options_of(const char* key, const char* value) {
  x2ir_options* options = x2ir_options_new();
  EXPECT(x2ir_options_set(options, key, value), X2IR_OK, "");
  return options;
}

/* Bytes to bytes; they are given back once, and a file gives the same. */
static void bytes_to_bytes(const char* path) {
  size_t size, onnx_size, again_size;
  const void *onnx, *again;
  void* data = read_file(path, &size);
  x2ir_source* source = x2ir_source_bytes(data, size, "net.onnx", release, data);
  x2ir_sink* first = x2ir_sink_memory("net.onnx");
  x2ir_sink* second = x2ir_sink_memory("net.onnx");
  x2ir_options* options = options_of("opset", "13");
  struct calls calls = {0};
  x2ir_result* result;
  CHECK(data);
  x2ir_options_on_progress(options, on_progress, &calls);
  x2ir_options_on_log(options, on_log, &calls);
  result = x2ir_convert(source, first, options);
  CHECK(strstr(x2ir_result_report(result), "\"nodes_read\""));
  CHECK(x2ir_result_option(result) == NULL);
  EXPECT(result, X2IR_OK, "");
  CHECK(calls.progress > 0 && calls.last > 0 && calls.last <= calls.total && calls.errors == 0);
  x2ir_source_free(source);
  CHECK(released == 1);

  CHECK(x2ir_sink_count(first) == 1 && strcmp(x2ir_sink_name(first, 0), "net.onnx") == 0);
  CHECK(!x2ir_sink_name(first, 1) && !x2ir_sink_data(first, 1, NULL));
  onnx = x2ir_sink_data(first, 0, &onnx_size);
  source = x2ir_source_file(path);
  EXPECT(x2ir_convert(source, second, options), X2IR_OK, "");
  again = x2ir_sink_data(second, 0, &again_size);
  CHECK(onnx_size > 0 && again_size == onnx_size && memcmp(onnx, again, onnx_size) == 0);
  x2ir_source_free(source);
  x2ir_options_free(options);
  x2ir_sink_free(first);
  x2ir_sink_free(second);
}

/* IR, which is two files, and back with the help of a function that finds the second. */
static void files_by_name(const char* path) {
  x2ir_source* source = x2ir_source_file(path);
  x2ir_sink* ir = x2ir_sink_memory("net.json");
  x2ir_sink* onnx = x2ir_sink_memory("net.onnx");
  struct folder folder = {0};
  size_t size;
  const void* data;
  EXPECT(x2ir_convert(source, ir, NULL), X2IR_OK, "");
  x2ir_source_free(source);
  CHECK(x2ir_sink_count(ir) == 2);
  folder.sink = ir;
  data = x2ir_sink_data(ir, strcmp(x2ir_sink_name(ir, 0), "net.json") == 0 ? 0 : 1, &size);
  source = x2ir_source_bytes(data, size, "net.json", NULL, NULL);
  CHECK(x2ir_result_code(NULL) != X2IR_OK);
  EXPECT(x2ir_convert(source, onnx, NULL), X2IR_NOT_FOUND, NULL);
  x2ir_source_on_file(source, resolve, &folder);
  EXPECT(x2ir_convert(source, onnx, NULL), X2IR_OK, "");
  CHECK(folder.asked > 0 && x2ir_sink_count(onnx) == 1);
  x2ir_source_free(source);
  x2ir_sink_free(ir);
  x2ir_sink_free(onnx);
}

/* One model, saved twice; its bytes may go when it has gone. */
static void models(const char* path) {
  size_t size;
  void* data = read_file(path, &size);
  x2ir_source* source = x2ir_source_bytes(data, size, "net.onnx", release, data);
  x2ir_options* options = x2ir_options_new();
  x2ir_model *model = NULL, *none = NULL;
  x2ir_sink* sink = x2ir_sink_memory("net.onnx");
  struct taken text = {0, SIZE_MAX};
  struct taken few = {0, 10};
  x2ir_sink* full = x2ir_sink_function("net.onnx", take, &few);
  const int before = released;
  EXPECT(x2ir_load(source, options, &model), X2IR_OK, "");
  CHECK(model);
  x2ir_source_free(source);
  CHECK(released == before);
  EXPECT(x2ir_options_set(options, "opset", "17"), X2IR_OK, "");
  EXPECT(x2ir_save(model, sink, options), X2IR_OK, "");
  CHECK(x2ir_sink_count(sink) == 1);
  EXPECT(x2ir_save(model, sink, options), X2IR_OK, "");
  CHECK(x2ir_sink_count(sink) == 1);
  EXPECT(x2ir_save(model, full, options), X2IR_UNAVAILABLE, "net.onnx");
  EXPECT(x2ir_model_text(model, take, &text), X2IR_OK, "");
  CHECK(text.bytes > 100);
  /* Options about writing are none of x2ir_load. */
  source = x2ir_source_file(path);
  EXPECT(x2ir_load(source, options, &none), X2IR_INVALID_ARGUMENT, "opset");
  CHECK(!none);
  x2ir_model_free(model);
  CHECK(released == before + 1);
  x2ir_source_free(source);
  x2ir_options_free(options);
  x2ir_sink_free(sink);
  x2ir_sink_free(full);
}

/* Nothing is written by what does not succeed. */
static void cancelled(const char* path) {
  x2ir_source* source = x2ir_source_file(path);
  x2ir_sink* sink = x2ir_sink_file("cancelled.onnx");
  x2ir_options* options = x2ir_options_new();
  struct calls calls = {0};
  FILE* file;
  calls.cancel_at = 2;
  x2ir_options_on_progress(options, on_progress, &calls);
  x2ir_options_on_log(options, on_log, &calls);
  EXPECT(x2ir_convert(source, sink, options), X2IR_CANCELLED, NULL);
  CHECK(calls.progress == 2 && calls.errors == 1);
  file = fopen("cancelled.onnx", "rb");
  CHECK(!file);
  if (file) fclose(file);
  x2ir_options_on_progress(options, NULL, NULL);
  EXPECT(x2ir_convert(source, sink, options), X2IR_OK, "");
  file = fopen("cancelled.onnx", "rb");
  CHECK(file);
  if (file) fclose(file);
  x2ir_source_free(source);
  x2ir_sink_free(sink);
  x2ir_options_free(options);
}

static void bad_files(const char* path) {
  static const char kBytes[] = "\x08\x07 these are no model, whatever else they are";
  x2ir_sink* sink = x2ir_sink_memory("net.onnx");
  x2ir_source* source = x2ir_source_file("nothing.onnx");
  size_t size, cut;
  void* data;
  EXPECT(x2ir_convert(source, sink, NULL), X2IR_NOT_FOUND, "nothing.onnx");
  x2ir_source_free(source);
  source = x2ir_source_bytes(kBytes, sizeof(kBytes), "bytes", NULL, NULL);
  EXPECT(x2ir_convert(source, sink, NULL), X2IR_DATA_LOSS, "bytes");
  x2ir_source_free(source);
  source = x2ir_source_bytes(NULL, 0, NULL, NULL, NULL);
  EXPECT(x2ir_convert(source, sink, NULL), X2IR_DATA_LOSS, NULL);
  x2ir_source_free(source);
  source = x2ir_source_bytes(NULL, 100, NULL, NULL, NULL);
  EXPECT(x2ir_convert(source, sink, NULL), X2IR_DATA_LOSS, "empty");
  x2ir_source_free(source);
  data = read_file(path, &size);
  for (cut = 1; cut < size; cut += size / 7) {
    x2ir_result* result;
    source = x2ir_source_bytes(data, cut, "cut.onnx", NULL, NULL);
    result = x2ir_convert(source, sink, NULL);
    CHECK(x2ir_result_code(result) != X2IR_OK && *x2ir_result_message(result));
    CHECK(x2ir_result_code(result) != X2IR_INTERNAL);
    CHECK(x2ir_sink_count(sink) == 0);
    x2ir_result_free(result);
    x2ir_source_free(source);
  }
  free(data);
  x2ir_sink_free(sink);
}

/* Each row: what is wrong with it, and the option that the result names. */
static void bad_options(const char* path) {
  static const struct {
    const char *key, *value, *word, *option;
  } kRows[] = {
      {"opset", "many", "number", "opset"},
      {"opset", "999", "999", "opset"},
      {"opsett", "17", "did you mean", "opsett"},
      {"shape", "x", "NAME:DIMS", "shape"},
      {"shape", "nothing:1", "nothing", "shape"},
      {"dtype", "x:float99", "float99", "dtype"},
      {"dynamic", "x:0", "NAME:AXIS=SIZE", "dynamic"},
      {"optimize", "yes", "true or false", "optimize"},
      {"passes", "simplfy", "did you mean", "passes"},
      {"inputs", "a,,b", "missing", "inputs"},
      {"from", "nonsense", "nonsense", "from"},
      {"to", "nonsense", "nonsense", "to"},
      {"weights", "copy", "no such option", "weights"},
      {"int8", "true", "option 'calibrate'", "int8"},
      {"calibrate", "io.safetensors", "needs option 'int8'", "calibrate"},
      {"per-channel", "true", "needs option 'int8'", "per-channel"},
      {"", "", "option", ""},
  };
  x2ir_source* source = x2ir_source_file(path);
  x2ir_sink* sink = x2ir_sink_memory("net.onnx");
  x2ir_options* options;
  x2ir_result* result;
  size_t i;
  for (i = 0; i < sizeof(kRows) / sizeof(kRows[0]); ++i) {
    const char* option;
    options = options_of(kRows[i].key, kRows[i].value);
    result = x2ir_convert(source, sink, options);
    option = x2ir_result_option(result);
    if (!option || strcmp(option, kRows[i].option) != 0) {
      fprintf(stderr, "%s=%s: about option '%s', expected '%s'\n", kRows[i].key, kRows[i].value,
              option ? option : "(none)", kRows[i].option);
      ++failures;
    }
    EXPECT(result, X2IR_INVALID_ARGUMENT, kRows[i].word);
    x2ir_options_free(options);
  }
  /* A key that may be there several times, and one that may not. */
  options = options_of("allow-foreign", "com.acme,com.other");
  EXPECT(x2ir_options_set(options, "allow-foreign", "com.third"), X2IR_OK, "");
  EXPECT(x2ir_options_set(options, "optimize", "false"), X2IR_OK, "");
  EXPECT(x2ir_convert(source, sink, options), X2IR_OK, "");
  EXPECT(x2ir_options_set(options, "passes", "simplify"), X2IR_OK, "");
  EXPECT(x2ir_convert(source, sink, options), X2IR_INVALID_ARGUMENT, "excludes");
  EXPECT(x2ir_options_set(options, "opset", "13"), X2IR_OK, "");
  EXPECT(x2ir_options_set(options, "opset", "14"), X2IR_OK, "");
  EXPECT(x2ir_convert(source, sink, options), X2IR_INVALID_ARGUMENT, "twice");
  x2ir_options_free(options);
  x2ir_source_free(source);
  x2ir_sink_free(sink);
}

static void nulls(void) {
  x2ir_model* model;
  x2ir_source* source = x2ir_source_file(NULL);
  x2ir_sink* sink = x2ir_sink_file(NULL);
  EXPECT(x2ir_convert(NULL, sink, NULL), X2IR_INVALID_ARGUMENT, "null");
  EXPECT(x2ir_convert(source, NULL, NULL), X2IR_INVALID_ARGUMENT, "null");
  EXPECT(x2ir_load(NULL, NULL, &model), X2IR_INVALID_ARGUMENT, "null");
  EXPECT(x2ir_load(source, NULL, NULL), X2IR_INVALID_ARGUMENT, "null");
  EXPECT(x2ir_save(NULL, sink, NULL), X2IR_INVALID_ARGUMENT, "null");
  EXPECT(x2ir_model_text(NULL, take, NULL), X2IR_INVALID_ARGUMENT, "null");
  EXPECT(x2ir_options_set(NULL, "opset", "17"), X2IR_INVALID_ARGUMENT, "null");
  EXPECT(x2ir_convert(source, sink, NULL), X2IR_INVALID_ARGUMENT, "");
  CHECK(!x2ir_sink_function("x", NULL, NULL));
  x2ir_options_on_progress(NULL, NULL, NULL);
  x2ir_options_on_log(NULL, NULL, NULL);
  x2ir_source_on_file(NULL, NULL, NULL);
  x2ir_source_free(source);
  x2ir_sink_free(sink);
  x2ir_source_free(NULL);
  x2ir_sink_free(NULL);
  x2ir_options_free(NULL);
  x2ir_model_free(NULL);
  x2ir_result_free(NULL);
}

/* int8 with scales that are measured on the io file beside the model: in one call, and in two. */
static void int8(const char* path) {
  const char* slash = strrchr(path, '/');
  const size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
  char io[4096];
  x2ir_source* source = x2ir_source_file(path);
  x2ir_sink* sink = x2ir_sink_memory("net.onnx");
  x2ir_options* options = options_of("int8", "true");
  x2ir_model* model = NULL;
  x2ir_result* result;
  size_t one, two;
  if (folder + sizeof("io.safetensors") > sizeof(io)) return;
  memcpy(io, path, folder);
  strcpy(io + folder, "io.safetensors");
  EXPECT(x2ir_options_set(options, "calibrate", io), X2IR_OK, "");
  EXPECT(x2ir_options_set(options, "calibrate", io), X2IR_OK, ""); /* twice: two cases */
  EXPECT(x2ir_options_set(options, "per-channel", "true"), X2IR_OK, "");
  result = x2ir_convert(source, sink, options);
  CHECK(strstr(x2ir_result_report(result), "scales of 2 cases"));
  CHECK(strstr(x2ir_result_report(result), "out_0 beside float32: max abs"));
  EXPECT(result, X2IR_OK, "");
  CHECK(x2ir_sink_data(sink, 0, &one) != NULL);
  EXPECT(x2ir_load(source, NULL, &model), X2IR_OK, "");
  EXPECT(x2ir_save(model, sink, options), X2IR_OK, "");
  CHECK(x2ir_sink_data(sink, 0, &two) != NULL && one == two);
  /* The model is as it was. */
  EXPECT(x2ir_save(model, sink, options), X2IR_OK, "");
  x2ir_model_free(model);
  /* It is about writing. */
  EXPECT(x2ir_load(source, options, &model), X2IR_INVALID_ARGUMENT, "no model is written here");
  x2ir_options_free(options);
  x2ir_sink_free(sink);
  x2ir_source_free(source);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  x2ir_handle_mapping_faults();
  CHECK(x2ir_api_version() >= X2IR_API_VERSION);
  CHECK(strchr(x2ir_version(), '.'));
  bytes_to_bytes(argv[1]);
  files_by_name(argv[1]);
  models(argv[1]);
  cancelled(argv[1]);
  bad_files(argv[1]);
  bad_options(argv[1]);
  int8(argv[1]);
  nulls();
  if (failures == 0) printf("x2ir.h: all as expected\n");
  return failures == 0 ? 0 : 1;
}
