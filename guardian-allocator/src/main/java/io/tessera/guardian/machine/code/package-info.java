/** Instructions of NVIDIA GPUs from sm_80 on: their fields, and a table of those that are known. Read first: {@code OperationTable}. */
package io.tessera.guardian.machine.code;
