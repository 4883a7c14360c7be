// Toy, a foreign framework of three layers that run one after the other.
#ifndef TOY_H_
#define TOY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "x2ir/graph_wrapper/model.h"
#include "x2ir/graph_wrapper/status.h"

namespace toy {

using Vector = std::vector<float>;

class Layer {
 public:
  virtual ~Layer() = default;
  virtual Vector Run(const Vector& x) const = 0;
  // A line of a .toy file, without its end.
  virtual std::string Line() const = 0;
  // Appends itself to a graph of dialect "toy" and returns its result.
  virtual x2ir::Value* Write(x2ir::Graph& graph, x2ir::Value* x, const std::string& name) const = 0;
};

struct Network {
  int64_t inputs = 0;  // the size of what the first layer gets
  std::vector<std::unique_ptr<Layer>> layers;

  Vector Run(Vector x) const;
};

// Weights are [in, out].
std::unique_ptr<Layer> MakeDense(size_t in, size_t out, Vector weights, Vector bias);
std::unique_ptr<Layer> MakeRelu();
std::unique_ptr<Layer> MakeScale(float factor);

// How Toy hands its network over, as a graph of dialect "toy", and how it builds one from a graph
// that it is given.
x2ir::Model ToModel(const Network& network);
absl::StatusOr<Network> FromModel(const x2ir::Model& model);

}  // namespace toy

#endif  // TOY_H_
