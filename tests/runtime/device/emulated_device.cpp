#include "runtime/device/emulated_device.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/device/find_device.hpp"
#include "runtime/device/piece_kernels.hpp"
#include "runtime/mpi/mpi_library.hpp"

namespace commpass::test {

namespace {

/// Identifies an allocation for another process.
struct Shared {
  pid_t process;
  int file;
  Bytes bytes;
};

template <class Number>
void add_as(const std::byte* from, std::byte* to, std::size_t bytes) {
  addition_of<Number>(1)(from, to, static_cast<std::int64_t>(bytes / sizeof(Number)));
}

void add_numbers(NumberType numbers, const std::byte* from, std::byte* to, std::size_t bytes) {
  switch (numbers) {
    case NumberType::integers_of_1_byte: return add_as<std::uint8_t>(from, to, bytes);
    case NumberType::integers_of_2_bytes: return add_as<std::uint16_t>(from, to, bytes);
    case NumberType::integers_of_4_bytes: return add_as<std::uint32_t>(from, to, bytes);
    case NumberType::integers_of_8_bytes: return add_as<std::uint64_t>(from, to, bytes);
    case NumberType::floats: return add_as<float>(from, to, bytes);
    case NumberType::doubles: return add_as<double>(from, to, bytes);
    case NumberType::others: break;
  }
  throw DeviceError("emulated: no kernel adds such numbers.");
}

[[noreturn]] void fail(const std::string& what) { throw DeviceError("emulated: " + what + "."); }

}  // namespace

EmulatedDevices& EmulatedDevices::get() {
  static auto* const devices = [] {
    auto* made = new EmulatedDevices;  // NOLINT: until the process ends
    add_device_backend(*made);
    return made;
  }();
  return *devices;
}

bool EmulatedDevices::is_known_to_mpi() const { return takes_cuda_memory().value_or(false); }

EmulatedDevices::Allocations::const_iterator EmulatedDevices::find(const void* address) const {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  auto next = allocations_.upper_bound(number);
  if (next == allocations_.begin()) return allocations_.end();
  --next;
  return number < next->first + static_cast<std::uintptr_t>(next->second.bytes) ? next : allocations_.end();
}

std::optional<int> EmulatedDevices::device_of(const void* address) const {
  const auto found = find(address);
  return found == allocations_.end() ? std::nullopt : std::optional(found->second.device);
}

bool EmulatedDevices::is_one_allocation(const void* address, Bytes bytes) const {
  const auto found = find(address);
  return found != allocations_.end() && find(static_cast<const std::byte*>(address) + bytes - 1) == found;
}

std::byte* EmulatedDevices::inside(const void* address) const {
  const auto found = find(address);
  if (found == allocations_.end()) return static_cast<std::byte*>(const_cast<void*>(address));  // NOLINT
  return found->second.inside + (reinterpret_cast<std::uintptr_t>(address) - found->first);
}

std::byte* EmulatedDevices::map(int device, int file, Bytes bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  void* const outside = mmap(nullptr, size, PROT_NONE, MAP_SHARED, file, 0);
  void* const inside = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (outside == MAP_FAILED || inside == MAP_FAILED) fail("there is no memory");
  allocations_[reinterpret_cast<std::uintptr_t>(outside)] = {device, file, bytes, static_cast<std::byte*>(inside)};
  return static_cast<std::byte*>(outside);
}

void EmulatedDevices::unmap(std::byte* memory) noexcept {
  for (auto& [stream, its_queue] : queues_) its_queue->run(its_queue->begun);
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(memory));
  const auto& [device, file, bytes, inside] = found->second;
  munmap(memory, static_cast<std::size_t>(bytes));
  munmap(inside, static_cast<std::size_t>(bytes));
  ::close(file);
  allocations_.erase(found);
}

std::byte* EmulatedDevices::allocate(int device, Bytes bytes) {
  ++made_;
  const int file = memfd_create("emulated device", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, bytes) != 0) fail("there is no memory");
  return map(device, file, bytes);
}

std::byte* EmulatedDevices::allocate_pinned(int, Bytes bytes) {
  ++made_;
  auto memory = std::make_unique<std::byte[]>(static_cast<std::size_t>(bytes));
  auto* const at = memory.get();
  pinned_.emplace(at, Pinned{bytes, std::move(memory)});
  return at;
}

std::shared_ptr<EmulatedDevices::Queue> EmulatedDevices::queue(Stream stream) {
  const auto found = queues_.find(stream);
  if (found == queues_.end()) fail("there is no such stream");
  return found->second;
}

void EmulatedDevices::Queue::run(std::size_t until) {
  while (done < until) {
    const auto next = std::move(work.front());
    work.pop_front();
    ++done;
    next();
  }
}

DeviceBackend::Stream EmulatedDevices::make_stream(int) {
  ++made_;
  auto made = std::make_shared<Queue>();
  auto* const stream = made.get();
  queues_.emplace(stream, std::move(made));
  return stream;
}

void EmulatedDevices::free_stream(int device, Stream stream) noexcept {
  synchronize(device, stream);
  queues_.erase(stream);
}

DeviceBackend::Event EmulatedDevices::make_event(int) {
  ++made_;
  auto made = std::make_unique<Mark>();
  auto* const event = made.get();
  events_.emplace(event, std::move(made));
  return event;
}

void EmulatedDevices::launch(Stream stream, std::function<void()> kernel) {
  auto its_queue = queue(stream);
  its_queue->work.push_back(std::move(kernel));
  ++its_queue->begun;
}

void EmulatedDevices::copy(int, std::span<const LocalCopy> copies, Stream stream) {
  copies_ += copies.size();
  for (const auto& [from, to, bytes] : copies) {
    if (bytes == 0) continue;
    for (const auto* end : {from, static_cast<const std::byte*>(to)})
      if (find(end) != find(end + bytes - 1)) fail("a copy leaves its allocation");
    launch(stream, [this, from = from, to = to, bytes = bytes] { std::memcpy(inside(to), inside(from), bytes); });
  }
}

std::string EmulatedDevices::why_no_kernel(int device) {
  if (kernel_ == Kernel::absent) return "emulated: there is no kernel.";
  if (!fault_) fault_ = fault_of_kernels(*this, device);
  return *fault_;
}

// A kernel reads its table when it runs, and fails if the table or an end of a piece is host memory that is not pinned.
void EmulatedDevices::check_reach(std::span<const LocalCopy> pieces) const {
  if (!is_pinned(pieces.data())) fail("a kernel reads a table that is not pinned");
  for (const auto& [from, to, bytes] : pieces) {
    if (bytes == 0) continue;
    for (const std::byte* end : std::initializer_list<const std::byte*>{from, from + bytes - 1, to, to + bytes - 1})
      if (find(end) == allocations_.end() && !is_pinned(end)) fail("a kernel reaches no memory there");
  }
}

void EmulatedDevices::copy_by_kernel(int, std::span<const LocalCopy> copies, Stream stream) {
  pieces_ += copies.size();
  launch(stream, [this, copies] {
    check_reach(copies);
    for (const auto& [from, to, bytes] : copies)
      if (bytes > 0)
        std::memcpy(inside(to), inside(from), bytes - (kernel_ == Kernel::copies_wrongly && bytes % 4 == 3 ? 1 : 0));
  });
}

void EmulatedDevices::add_by_kernel(int, std::span<const LocalCopy> pieces, NumberType numbers, Stream stream) {
  additions_ += pieces.size();
  launch(stream, [this, pieces, numbers] {
    check_reach(pieces);
    std::map<const std::byte*, std::size_t> targets;  // of which none may overlap: pieces are added in any order
    for (const auto& piece : pieces) targets.emplace(piece.to, piece.bytes);
    if (targets.size() < pieces.size()) fail("two pieces are added to the same numbers at once");
    for (auto target = targets.begin(); target != targets.end() && std::next(target) != targets.end(); ++target)
      if (target->first + target->second > std::next(target)->first) fail("targets of additions overlap");
    for (const auto& [from, to, bytes] : pieces) add_numbers(numbers, inside(from), inside(to), bytes);
    if (kernel_ == Kernel::adds_wrongly) *inside(pieces.back().to) ^= std::byte{1};
  });
}

bool EmulatedDevices::is_pinned(const void* address) const {
  auto next = pinned_.upper_bound(static_cast<std::byte*>(const_cast<void*>(address)));  // NOLINT: only looked for
  if (next == pinned_.begin()) return false;
  --next;
  return static_cast<const std::byte*>(address) < next->first + next->second.bytes;
}

void EmulatedDevices::record(int, Event event, Stream stream) {
  const auto its_queue = queue(stream);
  *events_.at(event) = {its_queue, its_queue->begun};
}

void EmulatedDevices::wait_in_stream(int, Stream stream, Event event) {
  launch(stream, [mark = *events_.at(event)] {
    if (mark.queue) mark.queue->run(mark.at);
  });
}

void EmulatedDevices::synchronize(int, Stream stream) {
  const auto its_queue = queue(stream);
  its_queue->run(its_queue->begun);
}

DeviceHandle EmulatedDevices::share(int, const void* address) {
  const auto found = find(address);
  if (found == allocations_.end()) fail("memory that is not its own cannot be shared");
  const Shared shared{getpid(), found->second.file, found->second.bytes};
  DeviceHandle handle;
  std::memcpy(handle.opaque.data(), &shared, sizeof shared);
  handle.offset = static_cast<Bytes>(reinterpret_cast<std::uintptr_t>(address) - found->first);
  return handle;
}

std::byte* EmulatedDevices::open(int device, const DeviceHandle& handle) {
  Shared shared{};
  std::memcpy(&shared, handle.opaque.data(), sizeof shared);
  const auto path = "/proc/" + std::to_string(shared.process) + "/fd/" + std::to_string(shared.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) fail("memory of another process cannot be opened");
  return map(device, file, shared.bytes);
}

std::size_t EmulatedDevices::alive() const {
  return allocations_.size() + queues_.size() - 1 + events_.size() + pinned_.size();
}

DeviceBytes::DeviceBytes(std::size_t bytes, int device)
    : device_(device),
      bytes_(bytes),
      memory_(EmulatedDevices::get().allocate(device, static_cast<Bytes>(std::max<std::size_t>(bytes, 1)))) {}

DeviceBytes::~DeviceBytes() { EmulatedDevices::get().deallocate(device_, memory_); }

void DeviceBytes::write(std::vector<std::byte> bytes, DeviceBackend::Stream stream) {
  auto& devices = EmulatedDevices::get();
  devices.launch(stream, [to = devices.inside(memory_), from = std::move(bytes)] { std::ranges::copy(from, to); });
}

std::vector<std::byte> DeviceBytes::read(DeviceBackend::Stream stream) const {
  auto& devices = EmulatedDevices::get();
  std::vector<std::byte> result(bytes_);
  devices.launch(stream, [&] { std::copy_n(devices.inside(memory_), bytes_, result.data()); });
  devices.synchronize(device_, stream);
  return result;
}

}  // namespace commpass::test
