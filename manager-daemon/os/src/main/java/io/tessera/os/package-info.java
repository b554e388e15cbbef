/**
 * The Linux interfaces that manager and executor need and the JDK does not offer: packet sockets with descriptors and credentials, epoll, pidfds,
 * reserved and owned files, sealed shared memory, futexes, pipes. They are small ports with one native implementation each, so that the whole manager
 * also runs on ports in memory.
 */
package io.tessera.os;
