/** Analyses that run once per function: the possible values of its registers, and the origins of its pointers. */
package io.tessera.guardian.fence.proof.analysis;
