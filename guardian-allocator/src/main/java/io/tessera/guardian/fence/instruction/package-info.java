/** Tables of the operands that each PTX instruction accesses and of the fences that it needs. */
package io.tessera.guardian.fence.instruction;
