/** PTX is read and written on modules of NVIDIA's compiler, on modules written by hand, and on damaged ones. */
package io.tessera.guardian.ptx;
