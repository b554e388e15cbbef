/** Graphs: nodes and edges as the program builds or captures them, and executable graphs made from them. */
package io.tessera.software.driver.graph;
