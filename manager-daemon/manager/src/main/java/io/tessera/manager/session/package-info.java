/**
 * Registration and end of clients: the runtime directory, segments, liveness, and the messages on a client's connection. Other packages decide when
 * clients may run; this one tells them which clients there are.
 */
package io.tessera.manager.session;
