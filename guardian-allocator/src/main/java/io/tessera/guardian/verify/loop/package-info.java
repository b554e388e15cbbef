/** Whether every loop ends, and how much is done between two looks at the stop word. */
package io.tessera.guardian.verify.loop;
