package io.tessera.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import org.junit.jupiter.api.Test;

class TenantNameTest {
    @Test
    void aLabelOfTwoUsersIsTwoTenants() {
        assertEquals("a", TenantName.of("a", 0, 0));
        assertEquals("a of user 4294967294", TenantName.of("a", -2, 0));
        assertNotEquals(TenantName.of("a", 5, 0), TenantName.of("a", 6, 0));
        assertNotEquals(TenantName.of("a of user 5", 6, 0), TenantName.of("a", 5, 0));
    }
}
