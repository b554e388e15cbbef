/** Runs generated kernels, unfenced and fenced, and compares. */
package io.tessera.fuzz.run;
