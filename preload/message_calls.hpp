// Calls of messages that have a number of elements, which the MPI library runs and a record counts. Private to
// message_calls.cpp, which says what the macros are and includes this for each kind of counts: there is no guard. Calls
// with the same parameters share a macro.

#define COMMPASS_SEND(name, counted)                                                                            \
  int COMMPASS_TAKEN(name)(const void* buf, COMMPASS_COUNT count, MPI_Datatype type, int dest, int tag,         \
                           MPI_Comm comm) {                                                                     \
    return count_call<CountedCall::counted>(                                                                    \
        __builtin_return_address(0), [&] { return COMMPASS_LIBRARY(name)(buf, count, type, dest, tag, comm); }, \
        [&](MessageLog& log, const MessageCall& of) {                                                           \
          log.send(of, world_rank(comm, dest), bytes_of(count, type), MakesRequest::no);                        \
        });                                                                                                     \
  }
COMMPASS_SEND(Send, send)
COMMPASS_SEND(Bsend, bsend)
COMMPASS_SEND(Ssend, ssend)
COMMPASS_SEND(Rsend, rsend)
#undef COMMPASS_SEND

// Those that make a request, with the numbers that are counted of it.
#define COMMPASS_SEND(name, counted, ...)                                                                              \
  int COMMPASS_TAKEN(name)(const void* buf, COMMPASS_COUNT count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, \
                           MPI_Request* request) {                                                                     \
    return count_call<CountedCall::counted>(                                                                           \
        __builtin_return_address(0),                                                                                   \
        [&] { return COMMPASS_LIBRARY(name)(buf, count, type, dest, tag, comm, request); },                            \
        [&](MessageLog& log, const MessageCall& of) { __VA_ARGS__; });                                                 \
  }
#define COMMPASS_BEGUN log.send(of, world_rank(comm, dest), bytes_of(count, type), made_request(*request))
#define COMMPASS_PREPARED log.prepare_send(of, *request, world_rank(comm, dest), bytes_of(count, type))
COMMPASS_SEND(Isend, isend, COMMPASS_BEGUN)
COMMPASS_SEND(Ibsend, ibsend, COMMPASS_BEGUN)
COMMPASS_SEND(Issend, issend, COMMPASS_BEGUN)
COMMPASS_SEND(Irsend, irsend, COMMPASS_BEGUN)
COMMPASS_SEND(Send_init, send_init, COMMPASS_PREPARED)
COMMPASS_SEND(Bsend_init, bsend_init, COMMPASS_PREPARED)
COMMPASS_SEND(Ssend_init, ssend_init, COMMPASS_PREPARED)
COMMPASS_SEND(Rsend_init, rsend_init, COMMPASS_PREPARED)
#undef COMMPASS_PREPARED
#undef COMMPASS_BEGUN
#undef COMMPASS_SEND

int COMMPASS_TAKEN(Recv)(void* buf, COMMPASS_COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Status* status) {
  return count_call<CountedCall::recv>(
      __builtin_return_address(0), [&] { return COMMPASS_LIBRARY(Recv)(buf, count, type, source, tag, comm, status); },
      [&](MessageLog& log, const MessageCall& of) { log.receive(of, world_rank(comm, source), MakesRequest::no); });
}

int COMMPASS_TAKEN(Irecv)(void* buf, COMMPASS_COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  return count_call<CountedCall::irecv>(
      __builtin_return_address(0),
      [&] { return COMMPASS_LIBRARY(Irecv)(buf, count, type, source, tag, comm, request); },
      [&](MessageLog& log, const MessageCall& of) {
        log.receive(of, world_rank(comm, source), made_request(*request));
      });
}

int COMMPASS_TAKEN(Recv_init)(void* buf, COMMPASS_COUNT count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                              MPI_Request* request) {
  return count_call<CountedCall::recv_init>(
      __builtin_return_address(0),
      [&] { return COMMPASS_LIBRARY(Recv_init)(buf, count, type, source, tag, comm, request); },
      [&](MessageLog& log, const MessageCall& of) { log.prepare_receive(of, *request, world_rank(comm, source)); });
}

int COMMPASS_TAKEN(Sendrecv)(const void* sendbuf, COMMPASS_COUNT sendcount, MPI_Datatype sendtype, int dest,
                             int sendtag, void* recvbuf, COMMPASS_COUNT recvcount, MPI_Datatype recvtype, int source,
                             int recvtag, MPI_Comm comm, MPI_Status* status) {
  return count_call<CountedCall::sendrecv>(
      __builtin_return_address(0),
      [&] {
        return COMMPASS_LIBRARY(Sendrecv)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                                          source, recvtag, comm, status);
      },
      [&](MessageLog& log, const MessageCall& of) {
        log.exchange(of, world_rank(comm, dest), bytes_of(sendcount, sendtype), world_rank(comm, source));
      });
}

int COMMPASS_TAKEN(Sendrecv_replace)(void* buf, COMMPASS_COUNT count, MPI_Datatype type, int dest, int sendtag,
                                     int source, int recvtag, MPI_Comm comm, MPI_Status* status) {
  return count_call<CountedCall::sendrecv_replace>(
      __builtin_return_address(0),
      [&] {
        return COMMPASS_LIBRARY(Sendrecv_replace)(buf, count, type, dest, sendtag, source, recvtag, comm, status);
      },
      [&](MessageLog& log, const MessageCall& of) {
        log.exchange(of, world_rank(comm, dest), bytes_of(count, type), world_rank(comm, source));
      });
}

// Ranks of a window stay its own.
#define COMMPASS_ACCESS(name, counted, origin_type, parameters, ...)                                          \
  int COMMPASS_TAKEN(name)(origin_type origin, COMMPASS_COUNT count, MPI_Datatype type, int target,           \
                           MPI_Aint displacement, COMMPASS_COUNT target_count,                                \
                           MPI_Datatype target_type COMMPASS_COMMAS parameters) {                             \
    return count_call<CountedCall::counted>(                                                                  \
        __builtin_return_address(0),                                                                          \
        [&] {                                                                                                 \
          return COMMPASS_LIBRARY(name)(origin, count, type, target, displacement, target_count, target_type, \
                                        __VA_ARGS__);                                                         \
        },                                                                                                    \
        [&](MessageLog& log, const MessageCall& of) { log.access(of, target, bytes_of(count, type)); });      \
  }
#define COMMPASS_COMMAS(...) , __VA_ARGS__
COMMPASS_ACCESS(Put, put, const void*, (MPI_Win win), win)
COMMPASS_ACCESS(Get, get, void*, (MPI_Win win), win)
COMMPASS_ACCESS(Accumulate, accumulate, const void*, (MPI_Op op, MPI_Win win), op, win)
COMMPASS_ACCESS(Rput, rput, const void*, (MPI_Win win, MPI_Request* request), win, request)
COMMPASS_ACCESS(Rget, rget, void*, (MPI_Win win, MPI_Request* request), win, request)
COMMPASS_ACCESS(Raccumulate, raccumulate, const void*, (MPI_Op op, MPI_Win win, MPI_Request* request), op, win, request)
#undef COMMPASS_ACCESS
#undef COMMPASS_COMMAS
