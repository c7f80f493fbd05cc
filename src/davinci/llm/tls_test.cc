// https with a certificate made on the spot: trusted when named, refused otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include "davinci/base/files.h"
#include "davinci/llm/openai_client.h"
#include "davinci/llm/test_support.h"

namespace davinci::llm {
namespace {

struct Certificate {
  EVP_PKEY* key = nullptr;
  X509* certificate = nullptr;
  ~Certificate() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
};

// Self-signed, for 127.0.0.1, valid for an hour.
void Make(Certificate* made) {
  made->key = EVP_EC_gen("P-256");
  made->certificate = X509_new();
  X509* const x509 = made->certificate;
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
  X509_gmtime_adj(X509_getm_notBefore(x509), -60);
  X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
  X509_set_pubkey(x509, made->key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("127.0.0.1"), -1, -1, 0);
  X509_set_issuer_name(x509, X509_get_subject_name(x509));
  for (const auto& [id, value] : {std::pair{NID_subject_alt_name, "IP:127.0.0.1"},
                                  std::pair{NID_basic_constraints, "critical,CA:TRUE"}}) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value);
    X509_add_ext(x509, extension, -1);
    X509_EXTENSION_free(extension);
  }
  ASSERT_GT(X509_sign(x509, made->key, EVP_sha256()), 0);
}

std::string Pem(X509* certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string pem(data, static_cast<size_t>(size));
  BIO_free(bio);
  return pem;
}

TEST(Tls, CertificatesAreVerified) {
  Certificate made;
  Make(&made);
  const TempDir dir = std::move(MakeTempDir("tls")).value();
  ASSERT_TRUE(WriteFileAtomic(dir.path() / "ca.pem", Pem(made.certificate)).ok());
  HttpServer server([](const auto&, auto& response) { StreamText(response, "private"); }, {"m"},
                    std::make_unique<httplib::SSLServer>(made.certificate, made.key));

  OpenAiOptions options;
  options.endpoints = {server.url("https")};
  options.model = "m";
  options.retry.max_attempts = 1;
  auto stranger = OpenAiClient::Create(options);
  ASSERT_TRUE(stranger.ok());
  const auto refused = (*stranger)->Generate({}, {});
  EXPECT_EQ(refused.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(refused.status().message(), testing::HasSubstr("certificate is not trusted"));
  EXPECT_THAT(refused.status().message(), testing::HasSubstr("set llm.ca_file to the PEM file"));
  EXPECT_EQ(server.num_requests(), 0u);

  options.ca_file = dir.path() / "ca.pem";
  auto friendly = OpenAiClient::Create(options);
  ASSERT_TRUE(friendly.ok());
  const auto reply = (*friendly)->Generate({}, {});
  ASSERT_TRUE(reply.ok()) << reply.status().message();
  EXPECT_EQ(reply->text, "private");
}

// What one side says goes to the other, until one of them has enough.
void Relay(int a, int b) {
  char buffer[4096];
  while (true) {
    pollfd both[2] = {{a, POLLIN, 0}, {b, POLLIN, 0}};
    if (::poll(both, 2, 20'000) <= 0) return;
    for (int side = 0; side < 2; ++side) {
      if ((both[side].revents & (POLLIN | POLLHUP)) == 0) continue;
      const ssize_t n = ::recv(both[side].fd, buffer, sizeof buffer, 0);
      if (n <= 0) return;
      RawServer::Send(both[1 - side].fd, std::string(buffer, static_cast<size_t>(n)));
    }
  }
}

TEST(Tls, AProxyOpensATunnelHoweverItEndsItsAnswer) {
  Certificate made;
  Make(&made);
  const TempDir dir = std::move(MakeTempDir("tls")).value();
  ASSERT_TRUE(WriteFileAtomic(dir.path() / "ca.pem", Pem(made.certificate)).ok());
  HttpServer server([](const auto&, auto& response) { StreamText(response, "private"); }, {"m"},
                    std::make_unique<httplib::SSLServer>(made.certificate, made.key));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string url = server.url("https");
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));
  RawServer proxy([&](int fd, int) {
    const UniqueFd target(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(target.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    RawServer::Send(fd, "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n");
    Relay(fd, target.get());
  });
  RawServer closed([](int fd, int) {
    RawServer::Send(fd, "HTTP/1.1 407 Proxy Authentication Required\r\nConnection: close\r\n\r\n");
  });
  OpenAiOptions options;
  options.endpoints = {url};
  options.model = "m";
  options.retry.max_attempts = 1;
  options.ca_file = dir.path() / "ca.pem";
  options.proxy = proxy.url();
  {
    const auto reply = std::move(OpenAiClient::Create(options)).value()->Generate({}, {});
    ASSERT_TRUE(reply.ok()) << reply.status().message();
    EXPECT_EQ(reply->text, "private");
  }
  options.proxy = closed.url();
  const auto refused = std::move(OpenAiClient::Create(options)).value()->Generate({}, {});
  EXPECT_THAT(refused.status().message(), testing::HasSubstr("407 Proxy Authentication"));
}

}  // namespace
}  // namespace davinci::llm
