/** Instructions of NVIDIA GPUs from sm_80 on: their fields, and a table of those that are known. Read first: {@code MachineOpcodes}. */
package io.tessera.guardian.machine.code;
