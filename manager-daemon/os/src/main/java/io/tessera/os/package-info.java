/**
 * The little that manager and executor need of Linux and the JDK does not offer: packet sockets with descriptors and
 * credentials, epoll, pidfds, reserved and owned files, sealed shared memory, futexes, pipes. Small ports with one
 * native implementation each, so that the whole manager also runs on ports in memory.
 */
package io.tessera.os;
