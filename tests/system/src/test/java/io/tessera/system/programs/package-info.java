/** Unchanged programs: how they load the library, what they do as processes, and programs from NVIDIA's compiler. */
package io.tessera.system.programs;
