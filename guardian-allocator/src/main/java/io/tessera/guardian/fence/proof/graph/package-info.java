/** The instructions, blocks, dominators, loops and values of a function. */
package io.tessera.guardian.fence.proof.graph;
