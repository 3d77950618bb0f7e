// What a SparseExchange holds. Private to the runtime.
#pragma once

#include "runtime/sparse/sparse_engine.hpp"

namespace commpass {

struct SparseExchange::State {
  State(std::shared_ptr<SparseEngine> its_engine, const SparseEngine::Sends& sends, bool constant,
        const SparseOptions& options)
      : engine(std::move(its_engine)), started(engine->start(sends, constant, options)) {}
  ~State() {
    if (!taken) engine->abandon(*started.call);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  std::shared_ptr<SparseEngine> engine;
  SparseEngine::Started started;
  bool taken = false;
};

}  // namespace commpass
