/** Graphs and captures: their calls, and what is kept of them. */
package io.tessera.executor.call.graph;
