// Server-sent events: the line format of streamed replies (WHATWG HTML, "Server-sent events").
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace davinci::llm {

// Takes bytes in pieces of any size, gives the data of each complete event. Comments and fields
// other than "data" are skipped; lines may end in LF, CR LF or CR. Holds at most the bytes of one
// event.
class SseParser {
 public:
  // Data of the events that are complete with these bytes, in order.
  std::vector<std::string> Feed(std::string_view bytes);
  // At the end of the stream: an event whose closing blank line never came counts (endpoints forget
  // it), a line without its end does not.
  std::vector<std::string> Finish();

 private:
  void EndLine(std::vector<std::string>* events);
  void EndEvent(std::vector<std::string>* events);

  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_cr_ = false;
};

}  // namespace davinci::llm
