/** What is known of a value, and what instructions and conditions say of it. */
package io.tessera.guardian.verify.value;
