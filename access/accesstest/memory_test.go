package accesstest_test

import (
	"testing"

	"github.com/fairlead-dev/fairlead/access"
	"github.com/fairlead-dev/fairlead/access/accesstest"
)

func TestLogInMemory(t *testing.T) {
	accesstest.LogContract(t, func(testing.TB) accesstest.RecordedLog { return accesstest.NewLog() })
}

func TestQuotaInMemory(t *testing.T) {
	accesstest.QuotaContract(t, func(testing.TB) access.Quota { return accesstest.NewQuota() })
}

func TestApprovalsInMemory(t *testing.T) {
	accesstest.ApprovalsContract(t, func(testing.TB) access.Approvals { return accesstest.NewApprovals() })
}
