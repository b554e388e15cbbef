/** Commands of tools/tessera, with a manager and programs. */
package io.tessera.system.commands;
