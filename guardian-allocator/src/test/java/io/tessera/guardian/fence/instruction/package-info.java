/** Tests of the tables of instructions. */
package io.tessera.guardian.fence.instruction;
