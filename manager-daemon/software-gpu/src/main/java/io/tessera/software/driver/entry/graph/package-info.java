/** Entries about graphs: capture, nodes, edges, executable graphs. */
package io.tessera.software.driver.entry.graph;
