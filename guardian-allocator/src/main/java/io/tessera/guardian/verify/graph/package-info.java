/** The values of a function in static single assignment, and what each of them is. */
package io.tessera.guardian.verify.graph;
