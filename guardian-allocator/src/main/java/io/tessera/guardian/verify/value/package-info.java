/** Known facts about values, and the facts that follow from instructions and conditions. */
package io.tessera.guardian.verify.value;
