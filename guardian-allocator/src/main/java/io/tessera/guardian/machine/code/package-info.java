/** Instructions of NVIDIA GPUs of sm_90: their fields, and a table of the known ones. Read first: {@code MachineOpcodes}. */
package io.tessera.guardian.machine.code;
