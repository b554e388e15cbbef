/** What lives in a context: limits, streams and events. */
package io.tessera.executor.call.context;
