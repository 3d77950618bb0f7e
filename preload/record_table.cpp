#include "preload/record_table.hpp"

#include "preload/call_site.hpp"

namespace commpass {

RecordTable& record_table() {
  static auto& only = *new RecordTable;  // never destroyed: programs call MPI until the very end
  return only;
}

std::uint64_t RecordTable::number_of(const void* site) {
  if (const auto known = sites.find(site); known != sites.end()) return known->second;
  if (site_names.size() > most_sites) return 0;
  site_names.push_back(describe_site(site));
  return sites[site] = site_names.size() - 1;
}

}  // namespace commpass
