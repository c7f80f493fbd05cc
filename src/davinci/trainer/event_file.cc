#include "davinci/trainer/event_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "davinci/base/files.h"

namespace davinci::trainer {
namespace {

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78U : 0);
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = MakeTable();

template <typename T>
void Raw(std::string* out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);  // little endian machines only
  out->append(bytes, sizeof value);
}
static_assert(std::endian::native == std::endian::little);

void Varint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

// Protobuf wire types: 0 varint, 1 eight bytes, 2 bytes with a length, 5 four bytes.
void Tag(std::string* out, int field, int type) {
  Varint(out, static_cast<uint64_t>(field << 3 | type));
}
void Bytes(std::string* out, int field, std::string_view bytes) {
  Tag(out, field, 2);
  Varint(out, bytes.size());
  out->append(bytes);
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes)
    crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ crc >> 8;
  return ~crc;
}

uint32_t MaskedCrc32c(std::string_view bytes) { return std::rotr(Crc32c(bytes), 15) + 0xa282ead8U; }

Result<EventFile> EventFile::Create(const std::filesystem::path& folder, double unix_s) {
  DAVINCI_RETURN_IF_ERROR(MakeDirs(folder));
  for (int n = 0;; ++n) {
    const auto path = folder / fmt::format("events.out.tfevents.{:.0f}.davinci.{}", unix_s, n);
    UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0644));
    if (file.get() < 0 && errno == EEXIST) continue;
    if (file.get() < 0) return FromErrno(errno, path.string());
    EventFile events(std::move(file));
    std::string event;
    Tag(&event, 1, 1);
    Raw(&event, unix_s);
    Bytes(&event, 3, "brain.Event:2");
    DAVINCI_RETURN_IF_ERROR(events.Append(event));
    return events;
  }
}

Status EventFile::Scalars(int64_t step, double unix_s,
                          const std::map<std::string, double>& values) {
  std::string summary;
  for (const auto& [name, number] : values) {
    std::string value;
    Bytes(&value, 1, name);
    Tag(&value, 2, 5);
    Raw(&value, static_cast<float>(number));
    Bytes(&summary, 1, value);
  }
  std::string event;
  Tag(&event, 1, 1);
  Raw(&event, unix_s);
  Tag(&event, 2, 0);
  Varint(&event, static_cast<uint64_t>(step));
  Bytes(&event, 5, summary);
  return Append(event);
}

Status EventFile::Append(std::string_view event) {
  std::string record;
  Raw(&record, static_cast<uint64_t>(event.size()));
  Raw(&record, MaskedCrc32c(std::string_view(record).substr(0, 8)));
  record.append(event);
  Raw(&record, MaskedCrc32c(event));
  return WriteAll(file_.get(), record, "TensorBoard file");
}

}  // namespace davinci::trainer
