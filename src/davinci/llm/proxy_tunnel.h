// A TLS client whose connections go through an HTTP proxy (CONNECT).
//
// cpp-httplib's own CONNECT waits for a lock that it holds when the proxy's answer ends the
// connection, so the handshake with the proxy is done here.
#pragma once

#include <httplib.h>

#include <string>

#include "davinci/llm/request_extras.h"

namespace davinci::llm {

class TunnelClient : public httplib::SSLClient {
 public:
  TunnelClient(const std::string& host, int port, HttpProxy proxy);

  // Why the proxy opened no tunnel; "" when it did.
  const std::string& refusal() const { return refusal_; }

 private:
  bool create_and_connect_socket(Socket& socket, httplib::Error& error) override;
  // Sends CONNECT and reads the answer's head.
  bool OpenTunnel(int fd);

  const std::string target_;  // "host:port"
  const HttpProxy proxy_;
  std::string refusal_;
};

}  // namespace davinci::llm
