#include "x2ir/cli/loopback_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "x2ir/graph_wrapper/strings.h"

namespace x2ir::cli {
namespace {

constexpr size_t kMaxRequest = 16384;  // bytes
constexpr int kMaxConnections = 32;
constexpr int kSeconds = 10;  // for a request, and for each part of the answer

absl::Status CannotListen(std::string_view what) {
  return absl::UnavailableError(StrCat("cannot ", what, ": ", std::strerror(errno)));
}

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// The head of a request; "" where none comes in time.
std::string ReadHead(int fd) {
  std::string head;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kSeconds);
  while (head.find("\r\n\r\n") == head.npos) {
    char bytes[2048];
    const ssize_t n = ::recv(fd, bytes, sizeof bytes, 0);
    if (n <= 0 || head.size() > kMaxRequest || std::chrono::steady_clock::now() > end) return "";
    head.append(bytes, static_cast<size_t>(n));
  }
  return head;
}

void Serve(int fd, const std::string& page, int port) {
  const std::string request = ReadHead(fd);
  if (!request.empty()) {
    const HttpAnswer answer = AnswerTo(request, port, page.size());
    if (SendAll(fd, answer.head) && answer.with_page) SendAll(fd, page);
  }
  ::close(fd);
}

// The value of the header Host; "" where there is none.
std::string HostOf(std::string_view request) {
  while (!request.empty()) {
    const size_t end = std::min(request.find("\r\n"), request.size());
    const std::string_view line = request.substr(0, end);
    request.remove_prefix(std::min(end + 2, request.size()));
    constexpr std::string_view kName = "host:";
    if (absl::AsciiStrToLower(ForAbsl(line.substr(0, kName.size()))) == kName) {
      std::string value(line.substr(kName.size()));
      absl::StripAsciiWhitespace(&value);
      return value;
    }
  }
  return "";
}

}  // namespace

HttpAnswer AnswerTo(std::string_view request, int port, size_t page_size) {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const std::string host = HostOf(request);
  const bool is_get = line.starts_with("GET "), is_head = line.starts_with("HEAD ");
  const size_t path = line.find(' ') + 1;
  std::string status = "200 OK";
  if (host != StrCat("127.0.0.1:", port) && host != StrCat("localhost:", port)) {
    status = "403 Forbidden";
  } else if (!is_get && !is_head) {
    status = "405 Method Not Allowed";
  } else if (line.substr(path, line.find(' ', path) - path) != "/") {
    status = "404 Not Found";
  }
  const bool found = status.starts_with("200");
  return {StrCat("HTTP/1.1 ", status,
                 "\r\nContent-Type: text/html; charset=utf-8"
                 "\r\nContent-Length: ",
                 found ? page_size : 0,
                 "\r\nContent-Security-Policy: frame-ancestors 'none'"
                 "\r\nCross-Origin-Resource-Policy: same-origin"
                 "\r\nX-Content-Type-Options: nosniff"
                 "\r\nCache-Control: no-store"
                 "\r\nConnection: close\r\n\r\n"),
          found && is_get};
}

absl::StatusOr<LoopbackServer> LoopbackServer::Listen(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return CannotListen("make a socket");
  LoopbackServer server(fd, port);
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  socklen_t size = sizeof address;
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::listen(fd, kMaxConnections) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return CannotListen(StrCat("listen on 127.0.0.1:", port));
  }
  server.port_ = ntohs(address.sin_port);
  return server;
}

LoopbackServer::LoopbackServer(LoopbackServer&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), port_(other.port_) {}

LoopbackServer::~LoopbackServer() {
  if (fd_ >= 0) ::close(fd_);
}

std::string LoopbackServer::Url() const { return StrCat("http://127.0.0.1:", port_, "/"); }

absl::Status LoopbackServer::Run(std::shared_ptr<const std::string> page) const {
  // Browsers open connections before they need them, so that one must not wait for another.
  const auto open = std::make_shared<std::atomic<int>>(0);
  while (true) {
    const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return CannotListen("accept connections");
    }
    const timeval limit = {kSeconds, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (open->fetch_add(1) >= kMaxConnections) {
      open->fetch_sub(1);
      ::close(fd);
      continue;
    }
    try {
      std::thread([fd, page, open, port = port_] {
        Serve(fd, *page, port);
        open->fetch_sub(1);
      }).detach();
    } catch (const std::system_error&) {
      open->fetch_sub(1);
      ::close(fd);
    }
  }
}

}  // namespace x2ir::cli
