package python

// A Meter limits the work and the memory of a program. What costs something charges it, and the charge
// raises an exception once the budget is spent. It is not safe for concurrent use.
type Meter struct{ left int }

// NewMeter has a budget, in the unit of Step.
func NewMeter(budget int) *Meter { return &Meter{budget} }

// Step is the charge for a small step of a program, in about the nanoseconds that it takes. A byte
// of text costs 1.
const Step = 16

// Charge takes n from the budget.
func (m *Meter) Charge(n int) {
	if m.left -= n; m.left < 0 {
		Raise("the template does too much work or makes too much text")
	}
}

// chargeProduct takes size * times from the budget, also where the product has more than 64 bits.
func (m *Meter) chargeProduct(size, times int) {
	if size > 0 && times > m.left/size {
		m.left = 0
		times = 1
	}
	m.Charge(size * times)
}
