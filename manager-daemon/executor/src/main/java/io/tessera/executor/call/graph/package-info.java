/** Graphs and captures: their calls, and the executor's records of them. */
package io.tessera.executor.call.graph;
