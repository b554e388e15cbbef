/** Tests of the fields of instructions and of the ways through code. */
package io.tessera.guardian.machine.code;
