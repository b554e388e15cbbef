/** Where variables, parameters and their bytes lie after a module is fenced. */
package io.tessera.guardian.fence.variable;
