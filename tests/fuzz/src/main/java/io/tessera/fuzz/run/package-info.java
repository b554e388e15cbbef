/** Runs generated kernels unfenced and fenced, and compares the results. */
package io.tessera.fuzz.run;
