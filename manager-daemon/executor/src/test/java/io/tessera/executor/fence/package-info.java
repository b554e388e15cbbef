/** Checks parts of fenced loading by themselves. */
package io.tessera.executor.fence;
