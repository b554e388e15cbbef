/** Calls for the objects of a context: limits, streams and events. */
package io.tessera.executor.call.context;
