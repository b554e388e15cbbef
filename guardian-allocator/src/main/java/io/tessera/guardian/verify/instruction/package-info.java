/** What each form of instruction has to keep to. */
package io.tessera.guardian.verify.instruction;
