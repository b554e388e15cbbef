/** The rules that each form of instruction must satisfy. */
package io.tessera.guardian.verify.instruction;
