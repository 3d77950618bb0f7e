#include "runtime/sparse/discovery.hpp"

#include "model/base/error.hpp"

namespace commpass {

std::unique_ptr<DiscoveryStage> make_stage(Discovery discovery, const StageContext& context) {
  switch (discovery) {
    case Discovery::nbx: return make_nbx_stage(context);
    case Discovery::reduce: return make_reduce_stage(context);
    case Discovery::allreduce: return make_allreduce_stage(context);
    case Discovery::rma: return make_rma_stage(context);
    case Discovery::dense: return make_alltoall_stage(context);
  }
  throw Error("there is no such discovery.");
}

}  // namespace commpass
