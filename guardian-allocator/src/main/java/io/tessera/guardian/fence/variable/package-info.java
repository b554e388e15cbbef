/** The location of variables, parameters and their bytes after a module is fenced. */
package io.tessera.guardian.fence.variable;
