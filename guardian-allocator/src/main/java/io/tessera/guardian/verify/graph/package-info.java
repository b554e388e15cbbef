/** The values of a function in static single assignment form, and their definitions. */
package io.tessera.guardian.verify.graph;
